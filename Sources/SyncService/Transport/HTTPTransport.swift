public import Foundation
public import HTTPTypes

/// Sends HTTP requests to a service. ``DefaultTransport`` is libcurl on Linux and `URLSession` elsewhere.
public protocol HTTPTransport: Sendable {
    /// Sends a request once.
    ///
    /// - Throws: Any error if no complete response arrived. The service may have applied the request.
    ///   `CancellationError` if the task was cancelled.
    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data)
}

/// The default transport. It does not follow redirects, so that credentials are not sent to another host.
///
/// On Linux it uses libcurl, loaded with the first request, since Foundation's `URLSession` loads the same library with
/// every program that links it. Elsewhere it uses `URLSession`, without cache and cookies.
public struct DefaultTransport: HTTPTransport {
    #if os(Linux) && canImport(Glibc)
        private let transport: CurlTransport
    #else
        private let transport: URLSessionTransport
    #endif

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - timeout: The time to wait for data. Linux rounds it up to seconds.
    ///   - total: The time for a request and its complete response; by default ten times `timeout`.
    ///   - answerLimit: The most bytes of a response, decompressed; by default 256 MiB.
    public init(timeout: Duration = .seconds(60), total: Duration? = nil, answerLimit: Int? = nil) {
        transport = .init(timeout: timeout, total: total, answerLimit: answerLimit ?? ResponseSizeLimit.standard)
    }

    /// Sends a request once.
    public func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        try await transport.send(request, body: body)
    }
}

extension Duration {
    /// The duration in seconds.
    var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

/// The limits of responses. They keep a response without an end from blocking a run or using all memory.
package enum ResponseSizeLimit {
    /// The most bytes of a body, decompressed: 256 MiB.
    package static let standard = 256 << 20
    /// The most bytes of the headers and trailers of a response: 256 KiB. On Linux; elsewhere the system has its own
    /// limit.
    package static let head = 256 << 10
    /// The most JSON values in a response: members of objects and elements of lists, at any depth. A value takes about
    /// 100 bytes of memory, even if it is short.
    package static let values = 5_000_000
    /// The total time of a request, as a multiple of its timeout.
    static let totalFactor = 10

    static func exceeded(_ bytes: Int) -> ServiceError {
        .invalidResponse("the response has more than \(bytes) bytes; request smaller pages")
    }

    static func exceededHead(_ bytes: Int) -> ServiceError {
        .invalidResponse("the headers and trailers have more than \(bytes) bytes")
    }

    /// Counts the values of JSON before it is parsed.
    ///
    /// - Throws: ``ServiceError`` `invalidResponse` for more than `limit`.
    static func checkValues(of body: some Collection<UInt8>, limit: Int = values) throws {
        // A value needs two bytes at least: itself and a separator.
        guard body.count / 2 >= limit else { return }
        let count = body.withContiguousStorageIfAvailable { countValues(of: $0) } ?? countValues(of: body)
        guard count > limit else { return }
        throw ServiceError.invalidResponse("the response has more than \(limit) values; request smaller pages")
    }

    /// A comma follows a value, and each list or object that is not empty has one value after its last comma.
    private static func countValues(of bytes: some Collection<UInt8>) -> Int {
        var count = 0
        var (isText, isEscaped, isOpened) = (false, false, false)
        for byte in bytes {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): continue
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                isOpened = false
                continue
            default: break
            }
            if isOpened || byte == UInt8(ascii: ",") { count += 1 }
            isOpened = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
            isText = byte == UInt8(ascii: "\"")
        }
        return count
    }
}
