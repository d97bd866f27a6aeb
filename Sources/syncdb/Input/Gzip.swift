import Foundation

/// What gzip data looks like, and how it can be unpacked in memory.
enum Gzip {
    /// Why data cannot be unpacked.
    enum Failure: LocalizedError, Equatable {
        /// It ends before its last member does.
        case truncated
        /// It is not what `gzip` makes, or was damaged on the way.
        case corrupt(String)
        /// It would be larger than allowed.
        case tooLarge

        var errorDescription: String? {
            switch self {
            case .truncated: "the gzip data ends too early; it was not written or sent whole"
            case .corrupt(let reason): "the gzip data is damaged (\(reason))"
            case .tooLarge: "the gzip data unpacks to more than is allowed"
            }
        }
    }

    private static let inputSize = 1 << 18

    /// Whether data begins as gzip does, and so cannot be JSON.
    static func isGzip(_ data: Data) -> Bool { data.starts(with: [0x1F, 0x8B]) }

    /// - Parameter progress: Told how many bytes are unpacked, of how many, after each megabyte that comes out.
    /// - Throws: ``Failure``.
    static func unpack(_ data: Data, maximumSize: Int, _ progress: (Int, Int) -> Void = { _, _ in }) throws -> Data {
        var done = 0
        let inflation = try Inflation { [data] in
            guard done < data.count else { return nil }
            defer { done += inputSize }
            return data.dropFirst(done).prefix(inputSize)
        }
        var unpacked = Data()
        while let part = try inflation.next() {
            guard unpacked.count + part.count <= maximumSize else { throw Failure.tooLarge }
            unpacked.append(part)
            progress(min(done, data.count), data.count)
        }
        return unpacked
    }
}
