// Sends HTTP requests with libcurl. The first request loads the library, so that a program that sends none does not load
// libcurl and the two dozen libraries that it needs.
#ifndef CCURL_H
#define CCURL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A response, or the error of the request. Free it with `sync_curl_free`.
struct sync_curl_response {
    /// The HTTP status; 0 without a complete response.
    long status;
    /// The lines of the header, with their line ends.
    char *head;
    size_t head_length;
    char *body;
    size_t body_length;
    /// The result code of libcurl; 0 for success.
    int code;
    /// The error message; empty for success.
    char error[256];
    /// Whether the request was cancelled.
    int is_cancelled;
    /// The largest size of the body in bytes, and whether the body is larger.
    size_t limit;
    int is_too_large;
    /// The largest size of all headers and trailers in bytes, their size so far, and whether they are larger.
    size_t head_limit;
    size_t head_count;
    int is_head_too_large;
};

/// The limits of a request.
struct sync_curl_bounds {
    /// The longest time without received data, in seconds.
    long silence;
    /// The longest time for the whole request, in seconds.
    long whole;
    /// The largest size of the body in bytes.
    size_t bytes;
    /// The largest size of all headers and trailers in bytes.
    size_t head_bytes;
};

/// Returns whether libcurl can be loaded.
int sync_curl_is_available(void);

/// Returns a connection, or NULL if libcurl cannot be loaded or memory is exhausted. One request at a time can use it.
void *sync_curl_open(void);
void sync_curl_close(void *connection);

/// Sends a request and waits for the response.
///
/// `headers` are lines without line ends, followed by NULL. `body` may be NULL. If `is_fresh` is not 0, the request opens a new
/// connection. libcurl reads `is_cancelled` about once a second.
void sync_curl_send(
    void *connection, const char *method, const char *url, const char *const *headers, const char *body,
    size_t body_length, struct sync_curl_bounds bounds, int is_fresh, const int *is_cancelled,
    struct sync_curl_response *response);

/// Sets the flag that cancels a request.
void sync_curl_cancel(int *is_cancelled);

void sync_curl_free(struct sync_curl_response *response);

#ifdef __cplusplus
}
#endif

#endif
