/// The text of JSON strings.
package enum JSONText {
    /// Appends the UTF-8 that a string's raw text stands for. The text has been checked by the reader.
    package static func unescape(_ raw: UnsafeBufferPointer<UInt8>, into out: inout [UInt8]) {
        var index = 0
        while index < raw.count {
            let byte = raw[index]
            guard byte == .backslash, index + 1 < raw.count else {
                out.append(byte)
                index += 1
                continue
            }
            let escape = raw[index + 1]
            index += 2
            switch escape {
            case UInt8(ascii: "b"): out.append(.backspace)
            case UInt8(ascii: "f"): out.append(.formFeed)
            case UInt8(ascii: "n"): out.append(.newline)
            case UInt8(ascii: "r"): out.append(.carriageReturn)
            case UInt8(ascii: "t"): out.append(.tab)
            case UInt8(ascii: "u"): append(character(raw, &index), to: &out)
            default: out.append(escape)
            }
        }
    }

    private static func character(_ raw: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> UInt32 {
        func unit() -> UInt32 {
            var value: UInt32 = 0
            for _ in 0..<4 where index < raw.count {
                value = value << 4 | (hexadecimal(raw[index]) ?? 0)
                index += 1
            }
            return value
        }
        let high = unit()
        guard 0xD800...0xDBFF ~= high else { return high }
        index += 2
        return 0x10000 + (high - 0xD800) << 10 + (unit() & 0x3FF)
    }

    private static func append(_ character: UInt32, to out: inout [UInt8]) {
        guard let scalar = Unicode.Scalar(character) else { return }
        out.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    @inline(__always)
    static func hexadecimal(_ byte: UInt8) -> UInt32? {
        switch byte {
        case .digit0 ... .digit9: UInt32(byte - .digit0)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        default: nil
        }
    }
}
