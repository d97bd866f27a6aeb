import SyncCore

/// Whether a list goes forward that is asked for by id: each page behind the last row of the one before it.
enum IDOrder {
    /// Whether an id comes after another one, in one of the orders that databases have: by bytes, or as words are sorted, where letters
    /// of either case stand together. Of ids with other characters than ASCII nothing is known.
    static func isAfter(_ id: JSONValue, _ other: JSONValue) -> Bool {
        guard case (.string(let id), .string(let other)) = (id, other) else { return true }
        return isAfter(id, other)
    }

    static func isAfter(_ id: String, _ other: String) -> Bool {
        guard id.utf8.allSatisfy({ $0 < 0x80 }), other.utf8.allSatisfy({ $0 < 0x80 }) else { return true }
        if other.utf8.lexicographicallyPrecedes(id.utf8) { return true }
        let (word, otherWord) = (word(id), word(other))
        return otherWord < word || word == otherWord && id != other
    }

    private static func word(_ id: String) -> String {
        id.lowercased().filter { $0.isLetter || $0.isNumber }
    }

    /// - Throws: ``ServiceFailure`` `malformed` for a row that does not come after another one.
    static func check(_ row: (time: String?, id: String), after last: (time: String?, id: String), in list: String)
        throws
    {
        let isAfter = row.time == last.time ? isAfter(row.id, last.id) : (row.time ?? "") > (last.time ?? "")
        guard isAfter else {
            throw ServiceFailure.malformed(
                "its list of \(list) does not go forward: '\(row.id)' comes behind '\(last.id)'")
        }
    }
}
