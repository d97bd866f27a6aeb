import CZlib
import Foundation

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
