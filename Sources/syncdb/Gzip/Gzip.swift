import CZlib
import Foundation

/// Unpacks gzip data (RFC 1952): one member or several, as `gzip`, `pigz` and appending make them.
struct Gzip {
    /// Why data cannot be unpacked.
    enum Failure: Error, Equatable {
        /// It ends before its last member does.
        case truncated
        /// It is not what `gzip` makes, or was damaged on the way.
        case corrupt(String)
        /// It would be larger than allowed.
        case tooLarge
    }

    private static let outputSize = 1 << 20
    /// zlib counts in 32 bits.
    private static let inputSize = 1 << 30

    private let maximumSize: Int
    private var unpacked = Data()

    private init(maximumSize: Int) { self.maximumSize = maximumSize }

    /// Whether data begins as gzip does, and so cannot be JSON.
    static func isGzip(_ data: Data) -> Bool { data.starts(with: [0x1F, 0x8B]) }

    /// - Parameter progress: Told how many bytes are unpacked, of how many, after each megabyte that comes out.
    /// - Throws: ``Failure``.
    static func unpack(_ data: Data, maximumSize: Int, _ progress: (Int, Int) -> Void = { _, _ in }) throws -> Data {
        var gzip = Gzip(maximumSize: maximumSize)
        try data.withUnsafeBytes { try gzip.unpack($0, progress) }
        return gzip.unpacked
    }

    private mutating func unpack(_ input: UnsafeRawBufferPointer, _ progress: (Int, Int) -> Void) throws {
        var stream = z_stream()
        let windowBits: Int32 = 15 + 16  // the largest window, gzip's header and checksum
        let size = Int32(truncatingIfNeeded: MemoryLayout<z_stream>.size)
        guard inflateInit2_(&stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
            throw Failure.corrupt("zlib does not work here")
        }
        defer { inflateEnd(&stream) }
        var rest = input[...]
        repeat {
            rest = try unpackMember(&stream, rest) { progress(input.count - $0, input.count) }
            // Tape drives and some tools fill up the last block with zeros.
            if rest.allSatisfy({ $0 == 0 }) { return }
            guard inflateReset(&stream) == Z_OK else { throw Failure.corrupt("zlib does not work here") }
        } while !rest.isEmpty
    }

    /// - Returns: What follows the member.
    private mutating func unpackMember(
        _ stream: inout z_stream, _ input: Slice<UnsafeRawBufferPointer>, _ rested: (Int) -> Void
    ) throws -> Slice<UnsafeRawBufferPointer> {
        var rest = input
        let output = UnsafeMutablePointer<UInt8>.allocate(capacity: Self.outputSize)
        defer { output.deallocate() }
        while true {
            let chunk = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.inputSize))
            guard let start = chunk.bindMemory(to: UInt8.self).baseAddress, !chunk.isEmpty else {
                throw Failure.truncated
            }
            // zlib reads through this pointer and does not write.
            stream.next_in = UnsafeMutablePointer(mutating: start)
            stream.avail_in = UInt32(truncatingIfNeeded: chunk.count)
            stream.next_out = output
            stream.avail_out = UInt32(truncatingIfNeeded: Self.outputSize)
            let code = inflate(&stream, Z_NO_FLUSH)
            let written = Self.outputSize - Int(stream.avail_out)
            guard unpacked.count + written <= maximumSize else { throw Failure.tooLarge }
            unpacked.append(output, count: written)
            rest = rest.dropFirst(chunk.count - Int(stream.avail_in))
            rested(rest.count)
            switch code {
            case Z_STREAM_END: return rest
            case Z_OK: continue
            case Z_BUF_ERROR where rest.isEmpty: throw Failure.truncated
            default: throw Failure.corrupt(stream.msg.map { String(cString: $0) } ?? "zlib error \(code)")
            }
        }
    }
}
