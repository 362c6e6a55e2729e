// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(iris-lower-kernel-abi{target=gfx942}))'

gpu.module @kernels {
  // expected-error @+1 {{argument 0 is 'memref<?xf16, strided<[1], offset: ?>>' with a dynamic offset; expected a static one}}
  gpu.func @offset(%b: memref<?xf16, strided<[1], offset: ?>>) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{argument 0 is 'memref<?xf16, affine_map<(d0) -> (d0 mod 2)>>'; expected a strided layout}}
  gpu.func @map(%b: memref<?xf16, affine_map<(d0) -> (d0 mod 2)>>) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{expected at most 6 dimensions of f16, bf16, f32, f64, i8, i16, i32 or i64}}
  gpu.func @element(%b: memref<?xi4>) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{argument 0 has type 'tensor<8xf32>'; expected !iris.ctx, a memref, an index, an integer or a float}}
  gpu.func @tile(%b: tensor<8xf32>) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  gpu.func @context(%ctx: !iris.ctx) kernel {
    // expected-error @+1 {{uses the context; expected iris.ctx_field}}
    %r = iris.rank %ctx : index
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{declares memory of type 'memref<?xf16, 3>'; expected static sizes, no layout and elements of}}
  gpu.func @dynamic() workgroup(%w: memref<?xf16, 3>) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{declares memory of type 'memref<8xf16, affine_map<(d0) -> (d0 mod 2)>, 5>'}}
  gpu.func @map() private(%p: memref<8xf16, affine_map<(d0) -> (d0 mod 2)>, 5>) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @below {{has 131072 bytes of declared buffers (memref.alloca) and 0 bytes of workgroup memory for the compiler; expected at most 65536 in all on gfx942}}
  // expected-note @below {{a buffer of 131072 bytes}}
  gpu.func @workgroup(%i: index) workgroup(%a: memref<32768xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{has 4104 bytes of arguments; expected at most 4096; put the rest into a buffer}}
  gpu.func @arguments(%a0: i64, %a1: i64, %a2: i64, %a3: i64, %a4: i64, %a5: i64, %a6: i64, %a7: i64, %a8: i64, %a9: i64, %a10: i64, %a11: i64, %a12: i64, %a13: i64, %a14: i64, %a15: i64, %a16: i64, %a17: i64, %a18: i64, %a19: i64, %a20: i64, %a21: i64, %a22: i64, %a23: i64, %a24: i64, %a25: i64, %a26: i64, %a27: i64, %a28: i64, %a29: i64, %a30: i64, %a31: i64, %a32: i64, %a33: i64, %a34: i64, %a35: i64, %a36: i64, %a37: i64, %a38: i64, %a39: i64, %a40: i64, %a41: i64, %a42: i64, %a43: i64, %a44: i64, %a45: i64, %a46: i64, %a47: i64, %a48: i64, %a49: i64, %a50: i64, %a51: i64, %a52: i64, %a53: i64, %a54: i64, %a55: i64, %a56: i64, %a57: i64, %a58: i64, %a59: i64, %a60: i64, %a61: i64, %a62: i64, %a63: i64, %a64: i64, %a65: i64, %a66: i64, %a67: i64, %a68: i64, %a69: i64, %a70: i64, %a71: i64, %a72: i64, %a73: i64, %a74: i64, %a75: i64, %a76: i64, %a77: i64, %a78: i64, %a79: i64, %a80: i64, %a81: i64, %a82: i64, %a83: i64, %a84: i64, %a85: i64, %a86: i64, %a87: i64, %a88: i64, %a89: i64, %a90: i64, %a91: i64, %a92: i64, %a93: i64, %a94: i64, %a95: i64, %a96: i64, %a97: i64, %a98: i64, %a99: i64, %a100: i64, %a101: i64, %a102: i64, %a103: i64, %a104: i64, %a105: i64, %a106: i64, %a107: i64, %a108: i64, %a109: i64, %a110: i64, %a111: i64, %a112: i64, %a113: i64, %a114: i64, %a115: i64, %a116: i64, %a117: i64, %a118: i64, %a119: i64, %a120: i64, %a121: i64, %a122: i64, %a123: i64, %a124: i64, %a125: i64, %a126: i64, %a127: i64, %a128: i64, %a129: i64, %a130: i64, %a131: i64, %a132: i64, %a133: i64, %a134: i64, %a135: i64, %a136: i64, %a137: i64, %a138: i64, %a139: i64, %a140: i64, %a141: i64, %a142: i64, %a143: i64, %a144: i64, %a145: i64, %a146: i64, %a147: i64, %a148: i64, %a149: i64, %a150: i64, %a151: i64, %a152: i64, %a153: i64, %a154: i64, %a155: i64, %a156: i64, %a157: i64, %a158: i64, %a159: i64, %a160: i64, %a161: i64, %a162: i64, %a163: i64, %a164: i64, %a165: i64, %a166: i64, %a167: i64, %a168: i64, %a169: i64, %a170: i64, %a171: i64, %a172: i64, %a173: i64, %a174: i64, %a175: i64, %a176: i64, %a177: i64, %a178: i64, %a179: i64, %a180: i64, %a181: i64, %a182: i64, %a183: i64, %a184: i64, %a185: i64, %a186: i64, %a187: i64, %a188: i64, %a189: i64, %a190: i64, %a191: i64, %a192: i64, %a193: i64, %a194: i64, %a195: i64, %a196: i64, %a197: i64, %a198: i64, %a199: i64, %a200: i64, %a201: i64, %a202: i64, %a203: i64, %a204: i64, %a205: i64, %a206: i64, %a207: i64, %a208: i64, %a209: i64, %a210: i64, %a211: i64, %a212: i64, %a213: i64, %a214: i64, %a215: i64, %a216: i64, %a217: i64, %a218: i64, %a219: i64, %a220: i64, %a221: i64, %a222: i64, %a223: i64, %a224: i64, %a225: i64, %a226: i64, %a227: i64, %a228: i64, %a229: i64, %a230: i64, %a231: i64, %a232: i64, %a233: i64, %a234: i64, %a235: i64, %a236: i64, %a237: i64, %a238: i64, %a239: i64, %a240: i64, %a241: i64, %a242: i64, %a243: i64, %a244: i64, %a245: i64, %a246: i64, %a247: i64, %a248: i64, %a249: i64, %a250: i64, %a251: i64, %a252: i64, %a253: i64, %a254: i64, %a255: i64, %a256: i64, %a257: i64, %a258: i64, %a259: i64, %a260: i64, %a261: i64, %a262: i64, %a263: i64, %a264: i64, %a265: i64, %a266: i64, %a267: i64, %a268: i64, %a269: i64, %a270: i64, %a271: i64, %a272: i64, %a273: i64, %a274: i64, %a275: i64, %a276: i64, %a277: i64, %a278: i64, %a279: i64, %a280: i64, %a281: i64, %a282: i64, %a283: i64, %a284: i64, %a285: i64, %a286: i64, %a287: i64, %a288: i64, %a289: i64, %a290: i64, %a291: i64, %a292: i64, %a293: i64, %a294: i64, %a295: i64, %a296: i64, %a297: i64, %a298: i64, %a299: i64, %a300: i64, %a301: i64, %a302: i64, %a303: i64, %a304: i64, %a305: i64, %a306: i64, %a307: i64, %a308: i64, %a309: i64, %a310: i64, %a311: i64, %a312: i64, %a313: i64, %a314: i64, %a315: i64, %a316: i64, %a317: i64, %a318: i64, %a319: i64, %a320: i64, %a321: i64, %a322: i64, %a323: i64, %a324: i64, %a325: i64, %a326: i64, %a327: i64, %a328: i64, %a329: i64, %a330: i64, %a331: i64, %a332: i64, %a333: i64, %a334: i64, %a335: i64, %a336: i64, %a337: i64, %a338: i64, %a339: i64, %a340: i64, %a341: i64, %a342: i64, %a343: i64, %a344: i64, %a345: i64, %a346: i64, %a347: i64, %a348: i64, %a349: i64, %a350: i64, %a351: i64, %a352: i64, %a353: i64, %a354: i64, %a355: i64, %a356: i64, %a357: i64, %a358: i64, %a359: i64, %a360: i64, %a361: i64, %a362: i64, %a363: i64, %a364: i64, %a365: i64, %a366: i64, %a367: i64, %a368: i64, %a369: i64, %a370: i64, %a371: i64, %a372: i64, %a373: i64, %a374: i64, %a375: i64, %a376: i64, %a377: i64, %a378: i64, %a379: i64, %a380: i64, %a381: i64, %a382: i64, %a383: i64, %a384: i64, %a385: i64, %a386: i64, %a387: i64, %a388: i64, %a389: i64, %a390: i64, %a391: i64, %a392: i64, %a393: i64, %a394: i64, %a395: i64, %a396: i64, %a397: i64, %a398: i64, %a399: i64, %a400: i64, %a401: i64, %a402: i64, %a403: i64, %a404: i64, %a405: i64, %a406: i64, %a407: i64, %a408: i64, %a409: i64, %a410: i64, %a411: i64, %a412: i64, %a413: i64, %a414: i64, %a415: i64, %a416: i64, %a417: i64, %a418: i64, %a419: i64, %a420: i64, %a421: i64, %a422: i64, %a423: i64, %a424: i64, %a425: i64, %a426: i64, %a427: i64, %a428: i64, %a429: i64, %a430: i64, %a431: i64, %a432: i64, %a433: i64, %a434: i64, %a435: i64, %a436: i64, %a437: i64, %a438: i64, %a439: i64, %a440: i64, %a441: i64, %a442: i64, %a443: i64, %a444: i64, %a445: i64, %a446: i64, %a447: i64, %a448: i64, %a449: i64, %a450: i64, %a451: i64, %a452: i64, %a453: i64, %a454: i64, %a455: i64, %a456: i64, %a457: i64, %a458: i64, %a459: i64, %a460: i64, %a461: i64, %a462: i64, %a463: i64, %a464: i64, %a465: i64, %a466: i64, %a467: i64, %a468: i64, %a469: i64, %a470: i64, %a471: i64, %a472: i64, %a473: i64, %a474: i64, %a475: i64, %a476: i64, %a477: i64, %a478: i64, %a479: i64, %a480: i64, %a481: i64, %a482: i64, %a483: i64, %a484: i64, %a485: i64, %a486: i64, %a487: i64, %a488: i64, %a489: i64, %a490: i64, %a491: i64, %a492: i64, %a493: i64, %a494: i64, %a495: i64, %a496: i64, %a497: i64, %a498: i64, %a499: i64, %a500: i64, %a501: i64, %a502: i64, %a503: i64, %a504: i64, %a505: i64, %a506: i64, %a507: i64, %a508: i64, %a509: i64, %a510: i64, %a511: i64, %a512: i64) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @below {{has the name ''; expected letters, digits, '_' and '$', a letter or '_' first, and not '_' alone}}
  gpu.func @""() kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @below {{has the name 'a b'; expected letters, digits, '_' and '$', a letter or '_' first, and not '_' alone}}
  gpu.func @"a b"() kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @below {{has the name 'a.b'; expected letters, digits, '_' and '$', a letter or '_' first, and not '_' alone}}
  gpu.func @"a.b"() kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @below {{has the name '1a'; expected letters, digits, '_' and '$', a letter or '_' first, and not '_' alone}}
  gpu.func @"1a"() kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @below {{has the name '_'; expected letters, digits, '_' and '$', a letter or '_' first, and not '_' alone}}
  gpu.func @"_"() kernel { gpu.return }
}

// -----

// 3976 bytes without the descriptor of b.
!wide = memref<?x?x?x?x?x?xf16, strided<[?, ?, ?, ?, ?, ?]>>
gpu.module @kernels {
  gpu.func @fits(%b: memref<?x?xf16>, %a0: !wide, %a1: !wide, %a2: !wide, %a3: !wide, %a4: !wide, %a5: !wide, %a6: !wide, %a7: !wide, %a8: !wide, %a9: !wide, %a10: !wide, %a11: !wide, %a12: !wide, %a13: !wide, %a14: !wide, %a15: !wide, %a16: !wide, %a17: !wide, %a18: !wide, %a19: !wide, %a20: !wide, %a21: !wide, %a22: !wide, %a23: !wide, %a24: !wide, %a25: !wide, %a26: !wide, %a27: !wide, %a28: !wide, %a29: !wide, %a30: !wide, %a31: !wide, %a32: !wide, %a33: !wide, %a34: !wide, %a35: !wide, %a36: !wide, %a37: !wide) kernel { gpu.return }
  // expected-error @below {{has 4224 bytes of arguments with 1 tensor maps of its matmuls' operands; expected at most 4096; put the rest into a buffer}}
  gpu.func @maps(%b: memref<?x?xf16>, %a0: !wide, %a1: !wide, %a2: !wide, %a3: !wide, %a4: !wide, %a5: !wide, %a6: !wide, %a7: !wide, %a8: !wide, %a9: !wide, %a10: !wide, %a11: !wide, %a12: !wide, %a13: !wide, %a14: !wide, %a15: !wide, %a16: !wide, %a17: !wide, %a18: !wide, %a19: !wide, %a20: !wide, %a21: !wide, %a22: !wide, %a23: !wide, %a24: !wide, %a25: !wide, %a26: !wide, %a27: !wide, %a28: !wide, %a29: !wide, %a30: !wide, %a31: !wide, %a32: !wide, %a33: !wide, %a34: !wide, %a35: !wide, %a36: !wide, %a37: !wide) kernel {
    %map, %made = iris.tensor_map %b contiguous 1 box [64, 16] swizzle 128 : memref<?x?xf16> -> !llvm.ptr
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @most() kernel attributes {iris.num_warps = 16 : i32} { gpu.return }
  // expected-error @below {{has 32 warps of 64 threads; expected at most 16 on gfx942, as a program has at most 1024 threads}}
  gpu.func @threads() kernel attributes {iris.num_warps = 32 : i32} { gpu.return }
}
