public import Foundation
public import HTTPTypes

/// A type that sends HTTP requests to a service.
public protocol HTTPTransport: Sendable {
    /// Sends a request, and returns the response and its body. The transport must not follow redirects, and must not
    /// repeat a request that may change data.
    ///
    /// - Throws: `CancellationError` if the task was cancelled. Any other error means that no complete response
    ///   arrived. Even if the method throws an error, the service may have applied the request.
    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data)
}

/// The default transport. The transport does not follow redirects, because a redirect could send the credentials to
/// another host.
///
/// On Linux with Glibc, the transport uses libcurl, and loads the library for the first request. On other systems, the
/// transport uses `URLSession` without a cache or cookies.
public struct DefaultTransport: HTTPTransport {
    #if os(Linux) && canImport(Glibc)
        private let transport: CurlTransport
    #else
        private let transport: URLSessionTransport
    #endif

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - timeout: The longest time without transferred data. With libcurl, `timeout` and `totalTimeout` are rounded
    ///     up to whole seconds.
    ///   - totalTimeout: The longest time for a request and its complete response; by default ten times `timeout`.
    ///   - maxResponseSize: The largest size of a response body in bytes, after decompression; by default 256 MiB.
    public init(timeout: Duration = .seconds(60), totalTimeout: Duration? = nil, maxResponseSize: Int? = nil) {
        transport = .init(
            timeout: timeout, totalTimeout: totalTimeout, maxResponseSize: maxResponseSize ?? ResponseSizeLimit.standard
        )
    }

    /// Sends a request, and returns the response and its body.
    ///
    /// - Throws: `CancellationError`; ``ServiceError/invalidResponse(_:)`` if the response is too large; another error
    ///   if no complete response arrived.
    public func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        try await transport.send(request, body: body)
    }
}

extension Duration {
    /// The duration in seconds, from -1e9 to 1e9 (about 31 years), because a duration of an option may be of any size.
    var seconds: Double { min(max(self / Duration.seconds(1), -1e9), 1e9) }
}

/// Limits of responses. The limits prevent an endless response from blocking a run or using all memory.
package enum ResponseSizeLimit {
    /// The largest size of a body in bytes, after decompression: 256 MiB.
    package static let standard = 256 << 20
    /// The largest size of the headers and trailers of a response in bytes: 256 KiB. The limit applies to libcurl;
    /// `URLSession` has a different limit.
    package static let head = 256 << 10
    /// The largest number of JSON values in a response: members of objects and elements of lists, at any depth. Even a
    /// short value takes about 100 bytes of memory.
    package static let values = 5_000_000

    /// Returns the longest time of a request in seconds: `total`, or ten times its timeout.
    static func seconds(of total: Duration?, timeout: Duration) -> Double { total?.seconds ?? timeout.seconds * 10 }

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
