import CZlib
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

/// Unpacks gzip data (RFC 1952) as it comes: one member or several, as `gzip`, `pigz` and appending make them.
final class Inflation {
    private enum State {
        /// Before the first member.
        case start
        case member
        /// After a member: another one follows, or zeros, or nothing.
        case between
        case padding
    }

    static let outputSize = 1 << 20
    private static let windowBits: Int32 = 15 + 16  // the largest window, gzip's header and checksum

    /// On the heap, because zlib keeps its address.
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutablePointer<UInt8>
    private let input: () throws -> Data?
    private var packed = Data()
    private var state = State.start

    /// - Parameter input: Gives the next packed bytes; nil at their end.
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

    private static var broken: Gzip.Failure { .corrupt("zlib does not work here") }

    /// The next unpacked bytes, a megabyte at most; nil at their end.
    ///
    /// - Throws: ``Gzip/Failure``, and what the input throws.
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

    /// Another member, unless there are only zeros: tape drives and some tools fill up the last block with them.
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
            // zlib reads through this pointer and does not write; it counts in 32 bits.
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
