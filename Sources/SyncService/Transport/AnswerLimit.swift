/// How long and how large an answer may be: one that never ends would else keep a run for ever, or take all memory.
public enum AnswerLimit {
    /// 256 MiB, unpacked.
    public static let standard = 256 << 20
    /// How many times the time for which nothing may come a request may take.
    static let totalFactor = 10

    static func exceeded(_ bytes: Int) -> ServiceFailure {
        .malformed("it has more than \(bytes) bytes: ask for smaller pages")
    }
}
