#if os(Linux) && canImport(Glibc)
    import CCurl
    package import Foundation
    package import HTTPTypes

    /// A transport that sends requests with libcurl. The transport does not follow redirects, because a redirect could
    /// send the credentials to another host.
    package final class CurlTransport: HTTPTransport {
        private let bounds: sync_curl_bounds
        private let connections = Connections()
        private let queue = DispatchQueue(label: "Sync.CurlTransport", attributes: .concurrent)

        /// Creates a transport.
        ///
        /// - Parameters:
        ///   - timeout: The longest time without received data, rounded up to whole seconds.
        ///   - totalTimeout: The longest time for a request and its complete response, rounded up to whole seconds; by
        ///     default ten times `timeout`.
        ///   - maxResponseSize: The largest size of a response in bytes, after decompression.
        package init(
            timeout: Duration = .seconds(60), totalTimeout: Duration? = nil,
            maxResponseSize: Int = ResponseSizeLimit.standard
        ) {
            func whole(_ seconds: Double) -> Int { max(1, Int(min(seconds, 1e9).rounded(.up))) }
            bounds = sync_curl_bounds(
                silence: whole(timeout.seconds),
                whole: whole(ResponseSizeLimit.seconds(of: totalTimeout, timeout: timeout)),
                bytes: max(0, maxResponseSize), head_bytes: ResponseSizeLimit.head)
        }

        /// Sends a request once.
        package func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
            let flag = Flag()
            return try await withTaskCancellationHandler {
                try Task.checkCancellation()
                return try await withCheckedThrowingContinuation { continuation in
                    queue.async { [self] in
                        continuation.resume(with: Result { try sendNow(request, body, flag) })
                    }
                }
            } onCancel: {
                flag.set()
            }
        }

        private func sendNow(_ request: HTTPRequest, _ body: Data?, _ flag: Flag) throws -> (HTTPResponse, Data) {
            guard let connection = connections.take() else {
                #if SYNC_STATIC
                    throw ServiceError.unreachable(
                        "this statically linked program sends no HTTP requests; build it from source with 'swift build'"
                    )
                #else
                    throw ServiceError.unreachable(
                        "cannot load libcurl.so.4; install libcurl4, or pass another transport")
                #endif
            }
            defer { connections.put(connection) }
            var response = sync_curl_response()
            // If a reused connection breaks, libcurl sends the request again. That is safe for `GET` only.
            let isFresh: Int32 = request.method == .get ? 0 : 1
            // An empty `Expect` keeps libcurl from waiting for permission to send the body.
            let lines = request.headerFields.map { "\($0.name.rawName): \($0.value)" } + ["Expect:"]
            let texts = lines.map { strdup($0) }
            defer { for text in texts { free(text) } }
            let pointers = texts.map { UnsafePointer($0) } + [nil]
            let bytes = body.map { Array($0) }
            (bytes ?? []).withUnsafeBytes { buffer in
                let start = bytes == nil ? nil : buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
                sync_curl_send(
                    connection, request.method.rawValue, request.address, pointers,
                    start?.assumingMemoryBound(to: CChar.self), buffer.count, bounds, isFresh, flag.pointer, &response)
            }
            defer { sync_curl_free(&response) }
            if response.is_cancelled != 0 { throw CancellationError() }
            if response.is_too_large != 0 { throw ResponseSizeLimit.exceeded(Int(bounds.bytes)) }
            if response.is_head_too_large != 0 { throw ResponseSizeLimit.exceededHead(Int(bounds.head_bytes)) }
            guard response.status > 0 else {
                let text = withUnsafeBytes(of: response.error) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                throw ServiceError.unreachable(text, cause: .init(curlCode: response.code))
            }
            // `Data` takes ownership of the buffer, so that the body is in memory only once.
            let received = response.body.map { Data(bytesNoCopy: $0, count: response.body_length, deallocator: .free) }
            response.body = nil
            let head = response.head.map { Data(bytes: $0, count: response.head_length) } ?? Data()
            return (Self.response(status: response.status, head: head), received ?? Data())
        }

        private static func response(status: Int, head: Data) -> HTTPResponse {
            var fields = HTTPFields()
            for line in String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline).dropFirst() {
                guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
                    continue
                }
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                fields.append(HTTPField(name: name, value: value))
            }
            return HTTPResponse(status: .init(code: status), headerFields: fields)
        }

        /// A pool of idle connections.
        ///
        /// `@unchecked Sendable`: the pool is accessed only while `lock` is held, and only one request at a time uses a
        /// connection.
        private final class Connections: @unchecked Sendable {
            private let lock = NSLock()
            private var idle: [UnsafeMutableRawPointer] = []

            func take() -> UnsafeMutableRawPointer? { lock.withLock { idle.popLast() } ?? sync_curl_open() }
            func put(_ connection: UnsafeMutableRawPointer) { lock.withLock { idle.append(connection) } }

            deinit {
                for connection in idle { sync_curl_close(connection) }
            }
        }

        /// A cancellation flag that C code reads.
        ///
        /// `@unchecked Sendable`: an atomic write sets the flag from 0 to 1.
        private final class Flag: @unchecked Sendable {
            let pointer = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

            init() { pointer.initialize(to: 0) }
            func set() { sync_curl_cancel(pointer) }
            deinit { pointer.deallocate() }
        }
    }

    extension ServiceError.ConnectionFailure {
        /// The cause for a result code of libcurl (https://curl.se/libcurl/c/libcurl-errors.html).
        fileprivate init(curlCode code: Int32) {
            switch code {
            case 5, 6: self = .hostNotFound
            case 7: self = .connectionRefused
            case 28: self = .timedOut
            default: self = .other
            }
        }
    }
#endif
