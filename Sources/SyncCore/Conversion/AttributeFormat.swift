/// How a service writes the instants of a date attribute, read and exported so.
///
/// Without one a date is read from ISO 8601 and from Unix time by its size, and exported as ISO 8601. With one nothing else
/// fits: text that could be several dates is never guessed.
public enum AttributeFormat: Sendable, Hashable {
    /// Seconds since 1970, a number that may have a fraction: `1709231399.25`. Also as text.
    case unixSeconds
    /// Milliseconds since 1970: `1709231399250`.
    case unixMilliseconds
    /// Microseconds since 1970, kept to the millisecond.
    case unixMicroseconds
    /// Nanoseconds since 1970, kept to the millisecond.
    case unixNanoseconds
    /// ISO 8601 and nothing else: `2024-02-29T18:29:59.999Z`.
    case iso8601
    /// A pattern of Unicode Technical Standard 35, such as `dd.MM.yyyy` or `yyyy-MM-dd HH:mm:ss`, in UTC where it has no
    /// zone. Which letters are known says `Docs/MappingContract.md`.
    case pattern(String)

    private static let words: [(word: String, format: AttributeFormat)] = [
        ("unix-seconds", .unixSeconds), ("unix-milliseconds", .unixMilliseconds),
        ("unix-microseconds", .unixMicroseconds), ("unix-nanoseconds", .unixNanoseconds), ("iso8601", .iso8601),
    ]

    /// The names of the formats that are no patterns.
    package static var names: [String] { words.map(\.word) }

    /// The format as a schema file has it: `unix-seconds`, `unix-milliseconds`, `unix-microseconds`,
    /// `unix-nanoseconds`, `iso8601`, or a pattern.
    public init(_ text: String) {
        self = Self.words.first { $0.word == text }?.format ?? .pattern(text)
    }

    /// The format as a schema file has it.
    public var text: String {
        if case .pattern(let pattern) = self { return pattern }
        return Self.words.first { $0.format == self }?.word ?? ""
    }

    /// What is wrong with it; nil if nothing is.
    package var problem: String? {
        guard case .pattern(let pattern) = self else { return nil }
        do {
            _ = try DatePattern(pattern)
            return nil
        } catch {
            let names = Self.names.joined(separator: ", ")
            return "'\(pattern)' is no date pattern (\(error.message)), nor one of \(names)"
        }
    }
}
