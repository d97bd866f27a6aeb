import CZlib
import Foundation

/// Detection and decompression of gzip data in memory.
enum Gzip {
    /// The reason why data cannot be decompressed.
    enum Failure: LocalizedError, Equatable {
        /// The data is empty or ends inside a member.
        case truncated
        /// The data is not gzip data, or is damaged.
        case corrupt(String)
        /// The decompressed data exceeds the limit.
        case tooLarge

        var errorDescription: String? {
            switch self {
            case .truncated: "the gzip data is truncated"
            case .corrupt(let reason): "the gzip data is corrupt (\(reason))"
            case .tooLarge: "the gzip data is too large after decompression"
            }
        }
    }

    private static let inputSize = 1 << 18

    /// Returns whether data begins with the gzip signature. JSON never begins with it.
    static func isGzip(_ data: Data) -> Bool { data.starts(with: [0x1F, 0x8B]) }

    /// Decompresses data.
    ///
    /// - Parameter progress: A closure that receives the number of compressed bytes that were read and their total. It
    ///   is called at least once for each decompressed megabyte.
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

/// A compressor that converts data to gzip (RFC 1952) incrementally. The output is deterministic: it contains no file
/// name and no time.
///
/// `@unchecked Sendable`: the state of zlib is accessed only while `lock` is held.
final class Deflation: @unchecked Sendable {
    private static let outputSize = 1 << 16
    private static let windowBits: Int32 = 15 + 16  // the largest window, gzip's header and checksum

    private let lock = NSLock()
    /// The state of zlib. It is on the heap, because zlib stores its address.
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutablePointer<UInt8>

    init() throws {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        output = .allocate(capacity: Self.outputSize)
        let size = Int32(truncatingIfNeeded: MemoryLayout<z_stream>.size)
        let code = deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, Self.windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        guard code == Z_OK else { throw Gzip.Failure.corrupt("zlib cannot be initialized") }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
        output.deallocate()
    }

    /// Adds data, and returns the compressed bytes that are ready.
    func pack(_ data: Data) -> Data { lock.withLock { deflate(data, Z_NO_FLUSH) } }

    /// Returns the remaining compressed bytes. No data can be added afterwards.
    func finish() -> Data { lock.withLock { deflate(Data(), Z_FINISH) } }

    private func deflate(_ data: Data, _ flush: Int32) -> Data {
        var packed = Data()
        data.withUnsafeBytes { input in
            // zlib does not write through this pointer. The data is far smaller than the 32-bit count allows.
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

/// A decompressor that reads gzip data (RFC 1952) incrementally. It accepts several members, which appending produces.
final class Inflation {
    private enum State {
        /// Before the first member.
        case start
        case member
        /// After a member. Another member, zeros or the end follows.
        case between
        case padding
    }

    static let outputSize = 1 << 20
    private static let windowBits: Int32 = 15 + 16  // the largest window, gzip's header and checksum

    /// The state of zlib. It is on the heap, because zlib stores its address.
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutablePointer<UInt8>
    private let input: () throws -> Data?
    private var packed = Data()
    private var state = State.start

    /// Creates a decompressor.
    ///
    /// - Parameter input: A closure that returns the next compressed bytes; nil at the end.
    init(_ input: @escaping () throws -> Data?) throws {
        self.input = input
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        output = .allocate(capacity: Self.outputSize)
        let size = Int32(truncatingIfNeeded: MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, Self.windowBits, ZLIB_VERSION, size) == Z_OK else { throw Self.broken }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        output.deallocate()
    }

    private static var broken: Gzip.Failure { .corrupt("zlib cannot be initialized") }

    /// Returns the next decompressed bytes, at most a megabyte; nil at the end.
    ///
    /// - Throws: ``Gzip/Failure``; errors of the input.
    func next() throws -> Data? {
        while true {
            if packed.isEmpty {
                guard let more = try input() else {
                    guard state == .between || state == .padding else { throw Gzip.Failure.truncated }
                    return nil
                }
                packed = more
                continue
            }
            if state == .between || state == .padding, try !beginMember() { continue }
            state = .member
            let unpacked = try inflate()
            if !unpacked.isEmpty { return unpacked }
        }
    }

    /// Begins another member. Returns false if only zeros follow, because tape drives and some tools pad the last block
    /// with zeros.
    private func beginMember() throws -> Bool {
        let zeros = packed.prefix { $0 == 0 }.count
        if zeros > 0 {
            state = .padding
            packed = packed.dropFirst(zeros)
        }
        guard !packed.isEmpty else { return false }
        guard state == .between else { throw Gzip.Failure.corrupt("incorrect header check") }
        guard inflateReset(stream) == Z_OK else { throw Self.broken }
        return true
    }

    private func inflate() throws -> Data {
        let (code, rested) = packed.withUnsafeBytes { input in
            // zlib does not write through this pointer. Its counts have 32 bits.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(clamping: input.count)
            stream.pointee.next_out = output
            stream.pointee.avail_out = UInt32(truncatingIfNeeded: Self.outputSize)
            let offered = stream.pointee.avail_in
            let code = CZlib.inflate(stream, Z_NO_FLUSH)
            return (code, input.count - Int(offered - stream.pointee.avail_in))
        }
        packed = packed.suffix(rested)
        switch code {
        case Z_STREAM_END: state = .between
        case Z_OK: break
        case Z_BUF_ERROR where rested == 0: break
        default:
            throw Gzip.Failure.corrupt(stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(code)")
        }
        return Data(bytes: output, count: Self.outputSize - Int(stream.pointee.avail_out))
    }
}
