// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- UcxEngine.cpp - Messages between nodes by UCX ----------------------===//
//
// One context and one worker for each engine, and an endpoint for each peer.
// The sender's rank is a part of UCX' tag.
#include "iris-c/InterNode.h"
#include "iris-c/RuntimeABI.h"

#include <chrono>
#include <cstdio>
#include <map>
#include <new>
#include <string>
#include <ucp/api/ucp.h>

namespace {
/// Where a function writes the reason of an error.
struct Error {
  char *text;
  size_t bytes;

  int32_t set(IrisRtStatusCode code, const char *what, ucs_status_t status) {
    std::snprintf(text, bytes, "%s: %s", what, ucs_status_string(status));
    return code;
  }
};

struct Request {
  /// UCX' request; null: complete.
  void *handle = nullptr;
  ucs_status_t status = UCS_OK;
  bool isReceive = false;
  uint32_t peer = 0;
  uint64_t bytes = 0;
  ucp_tag_recv_info_t info{};
};
} // namespace

struct IrisRtInterNodeEngine {
  uint32_t rank = 0;
  ucp_context_h context = nullptr;
  ucp_worker_h worker = nullptr;
  ucp_address_t *address = nullptr;
  size_t addressBytes = 0;
  std::map<uint32_t, ucp_ep_h> endpoints;
  std::map<uint64_t, Request> requests;
  uint64_t numRequests = 0;
};

/// The time in which endpoints are closed.
static constexpr auto closeLimit = std::chrono::seconds(1);

static uint64_t tagOf(uint32_t sender, uint64_t tag) {
  return uint64_t(sender) << 32 | tag;
}

//===----------------------------------------------------------------------===//
// Begin and end
//===----------------------------------------------------------------------===//

static void closeEngine(IrisRtInterNodeEngine *engine) {
  for (auto &[number, request] : engine->requests)
    if (request.handle)
      ucp_request_cancel(engine->worker, request.handle);
  std::map<uint32_t, void *> closing;
  for (auto &[peer, endpoint] : engine->endpoints) {
    ucp_request_param_t parameters{};
    parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    parameters.flags = UCP_EP_CLOSE_FLAG_FORCE;
    void *request = ucp_ep_close_nbx(endpoint, &parameters);
    if (UCS_PTR_IS_PTR(request))
      closing[peer] = request;
  }
  const auto end = std::chrono::steady_clock::now() + closeLimit;
  auto isPending = [&] {
    for (auto &[peer, request] : closing)
      if (ucp_request_check_status(request) == UCS_INPROGRESS)
        return true;
    for (auto &[number, request] : engine->requests)
      if (request.handle &&
          ucp_request_check_status(request.handle) == UCS_INPROGRESS)
        return true;
    return false;
  };
  while (isPending() && std::chrono::steady_clock::now() < end)
    ucp_worker_progress(engine->worker);
  for (auto &[peer, request] : closing)
    ucp_request_free(request);
  for (auto &[number, request] : engine->requests)
    if (request.handle)
      ucp_request_free(request.handle);
  if (engine->address)
    ucp_worker_release_address(engine->worker, engine->address);
  if (engine->worker)
    ucp_worker_destroy(engine->worker);
  if (engine->context)
    ucp_cleanup(engine->context);
  delete engine;
}

static int32_t openEngine(uint32_t rank, IrisRtInterNodeEngine **out,
                          char *text, size_t textBytes) {
  Error error{text, textBytes};
  auto *engine = new (std::nothrow) IrisRtInterNodeEngine();
  if (!engine)
    return error.set(IRISRT_INTERNAL, "new", UCS_ERR_NO_MEMORY);
  engine->rank = rank;
  ucp_config_t *config = nullptr;
  ucs_status_t status = ucp_config_read(nullptr, nullptr, &config);
  if (status == UCS_OK) {
    ucp_params_t parameters{};
    parameters.field_mask = UCP_PARAM_FIELD_FEATURES;
    parameters.features = UCP_FEATURE_TAG;
    status = ucp_init(&parameters, config, &engine->context);
    ucp_config_release(config);
  }
  if (status == UCS_OK) {
    ucp_worker_params_t parameters{};
    parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    parameters.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    status = ucp_worker_create(engine->context, &parameters, &engine->worker);
  }
  if (status == UCS_OK)
    status = ucp_worker_get_address(engine->worker, &engine->address,
                                    &engine->addressBytes);
  if (status != UCS_OK) {
    closeEngine(engine);
    return error.set(IRISRT_UNAVAILABLE, "cannot start UCX", status);
  }
  *out = engine;
  return IRISRT_OK;
}

static int32_t addressOf(IrisRtInterNodeEngine *engine, const void **address,
                         size_t *bytes, char *, size_t) {
  *address = engine->address;
  *bytes = engine->addressBytes;
  return IRISRT_OK;
}

/// Requests of a failed endpoint complete with its error.
static void onEndpointError(void *, ucp_ep_h, ucs_status_t) {}

static int32_t connectTo(IrisRtInterNodeEngine *engine, uint32_t peer,
                         const void *address, size_t, char *text,
                         size_t textBytes) {
  ucp_ep_params_t parameters{};
  parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                          UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                          UCP_EP_PARAM_FIELD_ERR_HANDLER;
  parameters.address = static_cast<const ucp_address_t *>(address);
  parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  parameters.err_handler.cb = onEndpointError;
  ucp_ep_h endpoint = nullptr;
  ucs_status_t status = ucp_ep_create(engine->worker, &parameters, &endpoint);
  if (status != UCS_OK)
    return Error{text, textBytes}.set(
        IRISRT_UNAVAILABLE,
        ("cannot connect to rank " + std::to_string(peer)).c_str(), status);
  engine->endpoints[peer] = endpoint;
  return IRISRT_OK;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static uint64_t keep(IrisRtInterNodeEngine *engine, const Request &request) {
  engine->requests[++engine->numRequests] = request;
  return engine->numRequests;
}

static int32_t startSend(IrisRtInterNodeEngine *engine, uint32_t peer,
                         uint64_t tag, const void *data, uint64_t bytes,
                         uint64_t *out, char *text, size_t textBytes) {
  auto found = engine->endpoints.find(peer);
  if (found == engine->endpoints.end())
    return Error{text, textBytes}.set(
        IRISRT_INVALID_ARGUMENT, "the peer is not connected", UCS_ERR_NO_ELEM);
  ucp_request_param_t parameters{};
  void *handle = ucp_tag_send_nbx(found->second, data, bytes,
                                  tagOf(engine->rank, tag), &parameters);
  Request request;
  request.peer = peer;
  request.bytes = bytes;
  if (UCS_PTR_IS_PTR(handle))
    request.handle = handle;
  else
    request.status = UCS_PTR_STATUS(handle);
  *out = keep(engine, request);
  return IRISRT_OK;
}

static int32_t startRecv(IrisRtInterNodeEngine *engine, uint32_t peer,
                         uint64_t tag, void *data, uint64_t bytes,
                         uint64_t *out, char *, size_t) {
  Request request;
  request.isReceive = true;
  request.peer = peer;
  request.bytes = bytes;
  // A request that is complete at once would not always tell the size.
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  void *handle = ucp_tag_recv_nbx(engine->worker, data, bytes, tagOf(peer, tag),
                                  ~uint64_t(0), &parameters);
  if (UCS_PTR_IS_PTR(handle))
    request.handle = handle;
  else
    request.status = handle ? UCS_PTR_STATUS(handle) : UCS_ERR_NO_MESSAGE;
  *out = keep(engine, request);
  return IRISRT_OK;
}

static void progress(IrisRtInterNodeEngine *engine) {
  ucp_worker_progress(engine->worker);
}

static int32_t test(IrisRtInterNodeEngine *engine, uint64_t number,
                    int32_t *isComplete, char *text, size_t textBytes) {
  Error error{text, textBytes};
  *isComplete = 0;
  auto found = engine->requests.find(number);
  if (found == engine->requests.end())
    return error.set(IRISRT_INVALID_ARGUMENT, "there is no such request",
                     UCS_ERR_NO_ELEM);
  Request &request = found->second;
  if (request.handle) {
    request.status =
        request.isReceive
            ? ucp_tag_recv_request_test(request.handle, &request.info)
            : ucp_request_check_status(request.handle);
    if (request.status == UCS_INPROGRESS)
      return IRISRT_OK;
    ucp_request_free(request.handle);
  }
  const Request ended = request;
  engine->requests.erase(found);
  *isComplete = 1;
  const std::string what =
      (ended.isReceive ? "receiving from rank " : "sending to rank ") +
      std::to_string(ended.peer);
  if (ended.isReceive &&
      (ended.status == UCS_ERR_MESSAGE_TRUNCATED ||
       (ended.status == UCS_OK && ended.info.length != ended.bytes))) {
    std::snprintf(text, textBytes,
                  "%s: a message of another size; expected %llu bytes",
                  what.c_str(), static_cast<unsigned long long>(ended.bytes));
    return IRISRT_FAILED_PRECONDITION;
  }
  if (ended.status != UCS_OK)
    return error.set(IRISRT_ABORTED, what.c_str(), ended.status);
  return IRISRT_OK;
}

extern "C" __attribute__((visibility("default"))) const IrisRtInterNodeApi *
irisrtInterNodeApi(void) {
  static const IrisRtInterNodeApi api = {
      IRISRT_INTERNODE_VERSION,
      0,
      "UCX",
      openEngine,
      addressOf,
      connectTo,
      startSend,
      startRecv,
      progress,
      test,
      closeEngine,
  };
  return &api;
}
