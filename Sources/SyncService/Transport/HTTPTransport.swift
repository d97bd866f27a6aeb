public import Foundation
public import HTTPTypes

/// What carries requests to a service and brings its answers: `URLSession` by default, anything else by conforming.
public protocol HTTPTransport: Sendable {
    /// Sends a request once.
    ///
    /// - Throws: Whatever says that no whole answer came; whether the service did what it was asked is not known then.
    ///   `CancellationError` if the task was cancelled.
    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data)
}

#if os(Linux) && canImport(Glibc)
    /// What carries requests where nothing else is said: libcurl, loaded with the first request. Foundation's `URLSession` is a
    /// cover of the same library here, which is loaded with every program that is linked with it.
    public typealias DefaultTransport = CurlTransport
#else
    /// What carries requests where nothing else is said: Foundation's `URLSession`.
    public typealias DefaultTransport = URLSessionTransport
#endif

extension Duration {
    /// In seconds.
    var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

/// How long and how large an answer may be: one that never ends would else keep a run for ever, or take all memory.
public enum ResponseSizeLimit {
    /// 256 MiB, unpacked.
    public static let standard = 256 << 20
    /// 256 KiB: the head of an answer, with the heads before it and the trailers. On Linux; elsewhere the system has a limit.
    public static let head = 256 << 10
    /// The values of the JSON of an answer: members of objects and elements of lists, at any depth. Each takes some 100 bytes of
    /// memory, however few bytes it has in the answer.
    public static let values = 5_000_000
    /// How many times the time for which nothing may come a request may take.
    static let totalFactor = 10

    static func exceeded(_ bytes: Int) -> ServiceError {
        .malformed("it has more than \(bytes) bytes: ask for smaller pages")
    }

    static func exceededHead(_ bytes: Int) -> ServiceError {
        .malformed("its head and its trailers have more than \(bytes) bytes")
    }

    /// Counts the values of JSON before it is read.
    ///
    /// - Throws: ``ServiceError`` `malformed` for more than `limit`.
    static func checkValues(of body: some Collection<UInt8>, limit: Int = values) throws {
        // A value has a byte, and another one beside it.
        guard body.count / 2 >= limit else { return }
        let count = body.withContiguousStorageIfAvailable { countValues(of: $0) } ?? countValues(of: body)
        guard count > limit else { return }
        throw ServiceError.malformed("it has more than \(limit) values: ask for smaller pages")
    }

    /// A comma has a value before it, and each list or object that is not empty has one behind its last comma.
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
