/// The text of JSON strings.
package enum JSONText {
    /// Appends the UTF-8 that a string's raw text stands for. The text has been checked by the reader.
    package static func unescape(_ raw: UnsafeBufferPointer<UInt8>, into out: inout [UInt8]) {
        var index = 0
        while index < raw.count {
            let byte = raw[index]
            guard byte == 0x5C, index + 1 < raw.count else {
                out.append(byte)
                index += 1
                continue
            }
            let escape = raw[index + 1]
            index += 2
            switch escape {
            case 0x62: out.append(0x08)
            case 0x66: out.append(0x0C)
            case 0x6E: out.append(0x0A)
            case 0x72: out.append(0x0D)
            case 0x74: out.append(0x09)
            case 0x75: append(character(raw, &index), to: &out)
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
        case 0x30...0x39: UInt32(byte - 0x30)
        case 0x41...0x46: UInt32(byte - 0x37)
        case 0x61...0x66: UInt32(byte - 0x57)
        default: nil
        }
    }
}
