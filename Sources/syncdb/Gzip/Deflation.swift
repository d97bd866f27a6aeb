import CZlib
import Foundation

/// Packs data as gzip does (RFC 1952) as it comes. The same data makes the same bytes: no name or time is kept.
///
/// `@unchecked Sendable`: all but the constants is only touched while `lock` is held.
final class Deflation: @unchecked Sendable {
    private static let outputSize = 1 << 16
    private static let windowBits: Int32 = 15 + 16  // the largest window, gzip's header and checksum

    private let lock = NSLock()
    /// On the heap, because zlib keeps its address.
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutablePointer<UInt8>

    init() throws {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        output = .allocate(capacity: Self.outputSize)
        let size = Int32(truncatingIfNeeded: MemoryLayout<z_stream>.size)
        let code = deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, Self.windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        guard code == Z_OK else { throw Gzip.Failure.corrupt("zlib does not work here") }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
        output.deallocate()
    }

    /// What of the packed data is ready once these bytes are in it.
    func pack(_ data: Data) -> Data { lock.withLock { deflate(data, Z_NO_FLUSH) } }

    /// The rest of the packed data. Nothing can be packed after it.
    func finish() -> Data { lock.withLock { deflate(Data(), Z_FINISH) } }

    private func deflate(_ data: Data, _ flush: Int32) -> Data {
        var packed = Data()
        data.withUnsafeBytes { input in
            // zlib reads through this pointer and does not write; pieces are far smaller than 32 bits count.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(clamping: input.count)
            repeat {
                stream.pointee.next_out = output
                stream.pointee.avail_out = UInt32(truncatingIfNeeded: Self.outputSize)
                _ = CZlib.deflate(stream, flush)
                packed.append(output, count: Self.outputSize - Int(stream.pointee.avail_out))
            } while stream.pointee.avail_out == 0
            stream.pointee.next_in = nil
        }
        return packed
    }
}
