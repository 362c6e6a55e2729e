// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library's own table of tuned products: what `iris-bench --tune` wrote.
// All entries were measured on the device that they name.  There are none for
// AMD GPUs, on which nothing has run: configs for those come from the model
// (MatmulModel.cpp), whose numbers are published peak rates and counts of
// instructions in machine code.
#include "core/Log.h"
#include "iris/ccl/MatmulSelector.h"

using namespace iris::ccl;
using namespace iris::rt;

// Four H200, products that are divided among four, then among two.
static const char lines[] = R"(
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"k","dtype":"f16","result":"f16","m":1024,"n":3584,"k":2048,"config":{"variant":"hbm_buffer","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"k_per_flag":16,"num_fetch_programs":16},"us":82.7}
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"k","dtype":"f16","result":"f16","m":4096,"n":3584,"k":2048,"config":{"variant":"hbm_buffer","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"k_per_flag":16,"num_fetch_programs":24,"num_mover_tiles":1},"us":339.54}
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"k","dtype":"f16","result":"f16","m":16384,"n":3584,"k":2048,"config":{"variant":"copy_engine","tile_m":128,"tile_n":256,"tile_k":64,"group_m":8,"warps":8,"programs":132},"us":1451.67}
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"k","dtype":"f16","result":"f16","m":4096,"n":4096,"k":1024,"config":{"variant":"copy_engine","tile_m":128,"tile_n":256,"tile_k":64,"group_m":8,"warps":8,"programs":132},"us":215.41}
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"k","dtype":"f16","result":"f16","m":4096,"n":11008,"k":1024,"config":{"variant":"copy_engine","tile_m":128,"tile_n":256,"tile_k":64,"group_m":8,"warps":8,"programs":132},"us":590.8}
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"k","dtype":"f16","result":"f16","m":4096,"n":14336,"k":1024,"config":{"variant":"copy_engine","tile_m":128,"tile_n":256,"tile_k":64,"group_m":8,"warps":8,"programs":132},"us":773.35}
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"m","dtype":"bf16","result":"bf16","m":128,"n":3584,"k":8192,"config":{"variant":"push","tile_m":128,"tile_n":128,"tile_k":64,"warps":8,"programs":132,"k_per_flag":8,"num_fetch_programs":16},"us":65.68}
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"m","dtype":"bf16","result":"bf16","m":256,"n":3584,"k":8192,"config":{"variant":"hbm_buffer","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"k_per_flag":8,"num_fetch_programs":16},"us":95.03}
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"m","dtype":"bf16","result":"bf16","m":512,"n":3584,"k":8192,"config":{"variant":"hbm_buffer","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"k_per_flag":16,"num_fetch_programs":24,"num_mover_tiles":1},"us":187.94}
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"m","dtype":"bf16","result":"bf16","m":1024,"n":3584,"k":8192,"config":{"variant":"hbm_buffer","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"k_per_flag":16,"num_fetch_programs":24,"num_mover_tiles":1},"us":329.72}
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"m","dtype":"bf16","result":"bf16","m":2048,"n":3584,"k":8192,"config":{"variant":"copy_engine","tile_m":128,"tile_n":256,"tile_k":64,"group_m":8,"warps":8,"programs":132},"us":663.61}
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"m","dtype":"bf16","result":"bf16","m":2048,"n":1376,"k":4096,"config":{"variant":"push","tile_m":128,"tile_n":128,"tile_k":64,"warps":8,"programs":132,"k_per_flag":16,"num_fetch_programs":16},"us":196.98}
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"m","dtype":"bf16","result":"bf16","m":2048,"n":1792,"k":4096,"config":{"variant":"push","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"k_per_flag":8,"num_fetch_programs":16},"us":192.01}
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"m","dtype":"bf16","result":"bf16","m":2048,"n":3696,"k":8192,"config":{"variant":"push","tile_m":256,"tile_n":128,"tile_k":64,"warps":8,"programs":132,"k_per_flag":32,"num_fetch_programs":32,"num_mover_tiles":4},"us":772.7}
{"target":"sm_90a","ranks":4,"op":"all_gather_matmul","shard":"m","dtype":"bf16","result":"bf16","m":2048,"n":6656,"k":16384,"config":{"variant":"copy_engine","tile_m":128,"tile_n":256,"tile_k":64,"group_m":8,"warps":8,"programs":132},"us":2422.07}
{"target":"sm_90a","ranks":4,"op":"matmul_all_gather","shard":"m","dtype":"f16","result":"f16","m":256,"n":3584,"k":8192,"config":{"variant":"unfused","tile_m":64,"tile_n":128,"tile_k":64,"warps":8,"programs":132},"us":48.54}
{"target":"sm_90a","ranks":4,"op":"matmul_all_gather","shard":"m","dtype":"f16","result":"f16","m":1024,"n":3584,"k":8192,"config":{"variant":"specialized","tile_m":128,"tile_n":128,"tile_k":64,"warps":8,"programs":132,"num_fetch_programs":32,"num_mover_tiles":1},"us":118.0}
{"target":"sm_90a","ranks":4,"op":"matmul_all_gather","shard":"m","dtype":"f16","result":"f16","m":4096,"n":3584,"k":8192,"config":{"variant":"specialized","tile_m":128,"tile_n":128,"tile_k":64,"warps":8,"programs":132,"num_fetch_programs":16},"us":385.63}
{"target":"sm_90a","ranks":4,"op":"matmul_all_gather","shard":"n","dtype":"f16","result":"f16","m":8192,"n":1152,"k":36864,"config":{"variant":"specialized","tile_m":128,"tile_n":128,"tile_k":64,"warps":8,"programs":132,"num_fetch_programs":32,"num_mover_tiles":3},"us":1095.07}
{"target":"sm_90a","ranks":4,"op":"matmul_reduce_scatter","shard":"m","share":"result","dtype":"bf16","result":"bf16","m":256,"n":4096,"k":2048,"config":{"variant":"unfused","tile_m":128,"tile_n":128,"tile_k":64,"warps":8,"programs":132},"us":50.84}
{"target":"sm_90a","ranks":4,"op":"matmul_reduce_scatter","shard":"m","share":"result","dtype":"bf16","result":"bf16","m":1024,"n":4096,"k":2048,"config":{"variant":"specialized","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"num_fetch_programs":32,"num_mover_tiles":1},"us":134.44}
{"target":"sm_90a","ranks":4,"op":"matmul_reduce_scatter","shard":"m","share":"result","dtype":"bf16","result":"bf16","m":2048,"n":4096,"k":2752,"config":{"variant":"specialized","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"num_fetch_programs":24,"num_mover_tiles":3},"us":294.08}
{"target":"sm_90a","ranks":4,"op":"matmul_reduce_scatter","shard":"m","share":"result","dtype":"bf16","result":"bf16","m":2048,"n":4096,"k":3584,"config":{"variant":"specialized","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"num_fetch_programs":32,"num_mover_tiles":4},"us":375.99}
{"target":"sm_90a","ranks":4,"op":"matmul_reduce_scatter","shard":"m","share":"result","dtype":"bf16","result":"bf16","m":2048,"n":8192,"k":7168,"config":{"variant":"specialized","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"num_fetch_programs":16,"num_mover_tiles":12},"us":1396.42}
{"target":"sm_90a","ranks":4,"op":"matmul_reduce_scatter","shard":"m","share":"result","dtype":"bf16","result":"bf16","m":2048,"n":8192,"k":7392,"config":{"variant":"specialized","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"num_fetch_programs":16,"num_mover_tiles":12},"us":1455.35}
{"target":"sm_90a","ranks":4,"op":"matmul_all_reduce","shard":"k","share":"result","dtype":"bf16","result":"bf16","m":1024,"n":4096,"k":2048,"config":{"variant":"specialized","tile_m":128,"tile_n":128,"tile_k":64,"warps":8,"programs":132,"num_fetch_programs":24},"us":63.92}
{"target":"sm_90a","ranks":4,"op":"matmul_all_reduce","shard":"k","share":"result","dtype":"bf16","result":"bf16","m":4096,"n":4096,"k":2048,"config":{"variant":"specialized","tile_m":128,"tile_n":128,"tile_k":64,"warps":8,"programs":132,"num_fetch_programs":32,"num_mover_tiles":1},"us":185.2}
{"target":"sm_90a","ranks":4,"op":"matmul_all_reduce","shard":"k","share":"result","dtype":"bf16","result":"bf16","m":8192,"n":4096,"k":2752,"config":{"variant":"specialized","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"num_fetch_programs":32,"num_mover_tiles":1},"us":368.37}
{"target":"sm_90a","ranks":4,"op":"matmul_all_reduce","shard":"k","share":"result","dtype":"bf16","result":"bf16","m":8192,"n":4096,"k":3584,"config":{"variant":"specialized","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"num_fetch_programs":16},"us":392.52}
{"target":"sm_90a","ranks":4,"op":"matmul_all_reduce","shard":"k","share":"result","dtype":"bf16","result":"bf16","m":8192,"n":8192,"k":7168,"config":{"variant":"specialized","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"num_fetch_programs":16,"num_mover_tiles":5},"us":1427.41}
{"target":"sm_90a","ranks":4,"op":"matmul_all_reduce","shard":"k","share":"result","dtype":"bf16","result":"bf16","m":8192,"n":8192,"k":7392,"config":{"variant":"specialized","tile_m":128,"tile_n":256,"tile_k":64,"warps":8,"programs":132,"num_fetch_programs":16,"num_mover_tiles":5},"us":1489.06}
{"target":"sm_90a","ranks":2,"op":"all_gather_matmul","shard":"k","dtype":"f16","result":"f16","m":16384,"n":3584,"k":4096,"config":{"variant":"copy_engine","tile_m":128,"tile_n":256,"tile_k":64,"group_m":8,"warps":8,"programs":132},"us":1379.7}
{"target":"sm_90a","ranks":2,"op":"all_gather_matmul","shard":"k","dtype":"f16","result":"f16","m":4096,"n":4096,"k":2048,"config":{"variant":"copy_engine","tile_m":128,"tile_n":256,"tile_k":64,"group_m":8,"warps":8,"programs":132},"us":203.86}
{"target":"sm_90a","ranks":2,"op":"all_gather_matmul","shard":"m","dtype":"bf16","result":"bf16","m":4096,"n":3584,"k":8192,"config":{"variant":"copy_engine","tile_m":128,"tile_n":256,"tile_k":64,"group_m":8,"warps":8,"programs":132},"us":659.33}
{"target":"sm_90a","ranks":2,"op":"all_gather_matmul","shard":"m","dtype":"bf16","result":"bf16","m":4096,"n":1376,"k":4096,"config":{"variant":"copy_engine","tile_m":128,"tile_n":256,"tile_k":64,"group_m":8,"warps":8,"programs":132},"us":175.63}
{"target":"sm_90a","ranks":2,"op":"all_gather_matmul","shard":"m","dtype":"bf16","result":"bf16","m":4096,"n":3696,"k":8192,"config":{"variant":"copy_engine","tile_m":128,"tile_n":256,"tile_k":64,"group_m":8,"warps":8,"programs":132},"us":774.91}
{"target":"sm_90a","ranks":2,"op":"all_gather_matmul","shard":"m","dtype":"bf16","result":"bf16","m":4096,"n":6656,"k":16384,"config":{"variant":"copy_engine","tile_m":128,"tile_n":256,"tile_k":64,"group_m":8,"warps":8,"programs":132},"us":2494.57}
)";

const MatmulTable &MatmulTable::builtIn() {
  static const MatmulTable table = [] {
    Expected<MatmulTable> read = parse(lines, "the library's table");
    if (read.ok())
      return read.take();
    Log().error("%s", read.status().message().c_str());
    return MatmulTable();
  }();
  return table;
}
