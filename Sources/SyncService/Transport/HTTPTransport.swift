public import Foundation
public import HTTPTypes

/// A type that sends HTTP requests to a service.
public protocol HTTPTransport: Sendable {
    /// Sends a request once.
    ///
    /// - Throws: `CancellationError` if the task was cancelled. Any other error means that no complete response
    ///   arrived. The service may have applied the request nevertheless.
    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data)
}

/// The default transport. It does not follow redirects, so that credentials are not sent to another host.
///
/// On Linux with Glibc, it uses libcurl, which it loads with the first request. Foundation's `URLSession` would load
/// libcurl when the program starts. On other systems it uses `URLSession`, without cache and cookies.
public struct DefaultTransport: HTTPTransport {
    #if os(Linux) && canImport(Glibc)
        private let transport: CurlTransport
    #else
        private let transport: URLSessionTransport
    #endif

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - timeout: The longest time without received data. With libcurl, both timeouts are rounded up to whole
    ///     seconds.
    ///   - totalTimeout: The longest time for a request and its complete response; by default ten times `timeout`.
    ///   - maxResponseSize: The largest size of a response in bytes, after decompression; by default 256 MiB.
    public init(timeout: Duration = .seconds(60), totalTimeout: Duration? = nil, maxResponseSize: Int? = nil) {
        transport = .init(
            timeout: timeout, totalTimeout: totalTimeout, maxResponseSize: maxResponseSize ?? ResponseSizeLimit.standard
        )
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

/// Limits of responses. They prevent an endless response from blocking a run or using all memory.
package enum ResponseSizeLimit {
    /// The largest size of a body in bytes, after decompression: 256 MiB.
    package static let standard = 256 << 20
    /// The largest size of the headers and trailers of a response in bytes: 256 KiB. The limit applies to libcurl;
    /// `URLSession` has a different limit.
    package static let head = 256 << 10
    /// The largest number of JSON values in a response: members of objects and elements of lists, at any depth. A value
    /// takes about 100 bytes of memory, even if it is short.
    package static let values = 5_000_000
    /// The default for the longest time of a request, as a multiple of its timeout.
    static let totalFactor = 10

    static func exceeded(_ bytes: Int) -> ServiceError {
        .invalidResponse("the response has more than \(bytes) bytes; request smaller pages")
    }

    static func exceededHead(_ bytes: Int) -> ServiceError {
        .invalidResponse("the headers and trailers have more than \(bytes) bytes")
    }

    /// Checks the number of values in JSON before it is parsed.
    ///
    /// - Throws: ``ServiceError`` `invalidResponse` if there are more than `limit` values.
    static func checkValues(of body: some Collection<UInt8>, limit: Int = values) throws {
        // A value needs at least two bytes: one for the value and one for a separator.
        guard body.count / 2 >= limit else { return }
        let count = body.withContiguousStorageIfAvailable { countValues(of: $0) } ?? countValues(of: body)
        guard count > limit else { return }
        throw ServiceError.invalidResponse("the response has more than \(limit) values; request smaller pages")
    }

    /// Counts the values: one for each comma, and one for each list or object that is not empty.
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
