import Foundation

/// The SHA-256 hash (FIPS 180-4).
enum SHA256 {
    private static let rounds: [UInt32] = constants { pow($0, 1.0 / 3) }
    private static let start: [UInt32] = Array(constants { $0.squareRoot() }.prefix(8))

    /// Returns whether a text is a hash in the format of ``text(_:)``: 64 lowercase hexadecimal digits.
    static func isText(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Returns the hash of data as 64 lowercase hexadecimal digits.
    static func text(_ data: Data) -> String {
        digest(data).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    private static func digest(_ data: Data) -> [UInt8] {
        var state = start
        var words = [UInt32](repeating: 0, count: 64)
        data.withUnsafeBytes { bytes in
            for block in 0..<(bytes.count / 64) { compress(bytes[(block * 64)..<(block * 64 + 64)], &state, &words) }
        }
        var rest = Array(data.suffix(data.count % 64)) + [0x80]
        while rest.count % 64 != 56 { rest.append(0) }
        rest += bigEndian(UInt64(data.count) * 8, count: 8)
        rest.withUnsafeBytes { bytes in
            for block in 0..<(bytes.count / 64) { compress(bytes[(block * 64)..<(block * 64 + 64)], &state, &words) }
        }
        return state.flatMap { bigEndian(UInt64($0), count: 4) }
    }

    private static func compress(
        _ block: Slice<UnsafeRawBufferPointer>, _ state: inout [UInt32], _ words: inout [UInt32]
    ) {
        let first = block.startIndex
        for index in 0..<16 {
            let at = first + index * 4
            words[index] =
                UInt32(block[at]) << 24 | UInt32(block[at + 1]) << 16 | UInt32(block[at + 2]) << 8
                | UInt32(block[at + 3])
        }
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let low = turned(early, 7) ^ turned(early, 18) ^ (early >> 3)
            let high = turned(late, 17) ^ turned(late, 19) ^ (late >> 10)
            words[index] = words[index - 16] &+ low &+ words[index - 7] &+ high
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let high = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
            let one = h &+ high &+ ((e & f) ^ (~e & g)) &+ rounds[index] &+ words[index]
            let low = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
            let two = low &+ ((a & b) ^ (a & c) ^ (b & c))
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ one, c, b, a, one &+ two)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] = state[index] &+ value }
    }

    private static func turned(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }

    private static func bigEndian(_ value: UInt64, count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (UInt64($0) * 8)) }
    }

    /// Applies a function to each of the first 64 primes, and returns the first 32 bits of the fractional part of each
    /// value.
    private static func constants(_ function: (Double) -> Double) -> [UInt32] {
        let primes = (2...).lazy.filter { number in !(2..<number).contains { number % $0 == 0 } }
        return primes.prefix(64).map { prime in
            let value = function(Double(prime))
            return UInt32((value - value.rounded(.down)) * 4_294_967_296)
        }
    }
}
