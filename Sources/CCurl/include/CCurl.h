// Requests by libcurl, which is loaded with the first of them: a program that makes none does not pay for loading it and
// the two dozen libraries it needs.
#ifndef CCURL_H
#define CCURL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// An answer, to be freed.
struct sync_curl_answer {
    /// The status of HTTP; 0 if no whole answer came.
    long status;
    /// The lines of the head, each with its end.
    char *head;
    size_t head_length;
    char *body;
    size_t body_length;
    /// What went wrong; empty if nothing did.
    char error[256];
    /// Whether the request was given up because it was cancelled.
    int is_cancelled;
    /// How many bytes the body may have, and whether it had more.
    size_t limit;
    int is_too_large;
    /// How many bytes all heads and trailers may have, how many came, and whether those were more.
    size_t head_limit;
    size_t head_count;
    int is_head_too_large;
};

/// What a request may take.
struct sync_curl_bounds {
    /// For how many seconds nothing may come.
    long silence;
    /// How many seconds all may take.
    long whole;
    /// How many bytes the body of the answer may have.
    size_t bytes;
    /// How many bytes its head may have, with all heads before it and the trailers.
    size_t head_bytes;
};

/// Whether libcurl can be loaded.
int sync_curl_is_there(void);

/// A connection that can be used again, by one request at a time; NULL if there is no memory, or no libcurl.
void *sync_curl_open(void);
void sync_curl_close(void *connection);

/// Sends a request and waits for the answer.
///
/// `headers` are lines without their ends, and NULL behind the last. `body` may be NULL. With `is_fresh` no connection of an earlier request is used again. `is_cancelled` is looked at about
/// once a second.
void sync_curl_send(
    void *connection, const char *method, const char *url, const char *const *headers, const char *body,
    size_t body_length, struct sync_curl_bounds bounds, int is_fresh, const int *is_cancelled,
    struct sync_curl_answer *answer);

/// Sets what `is_cancelled` leads to.
void sync_curl_cancel(int *is_cancelled);

void sync_curl_free(struct sync_curl_answer *answer);

#ifdef __cplusplus
}
#endif

#endif
