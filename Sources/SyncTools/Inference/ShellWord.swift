/// Text as a shell takes it for one word: what errors suggest is copied.
package enum ShellWord {
    /// - Parameter plain: What needs no quotes besides letters, digits, dots, hyphens and underscores.
    package static func quoted(_ text: String, keeping plain: String = "") -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte >= 0x80 || "._-\(plain)".utf8.contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
        return isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }
}
