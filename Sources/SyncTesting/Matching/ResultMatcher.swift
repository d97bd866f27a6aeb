import SyncCore

/// Compares the result of a sync, as JSON, with what a step expects of it.
///
/// An object has at least the members that are expected of it, a list exactly the elements.
enum ResultMatcher {
    /// The first place where they differ, in the order of the expectation.
    static func mismatch(_ expected: JSONValue, _ found: JSONValue?, at path: String) -> Mismatch? {
        switch (expected, found) {
        case (.object(let members), .object):
            return first(members.map { ($0.value, found?[$0.key], "\(path).\($0.key)") })
        case (.array(let left), .array(let right)) where left.count == right.count:
            return first(zip(left, right).enumerated().map { ($1.0, $1.1, "\(path)[\($0)]") })
        case (.null, nil):
            return nil
        default:
            if let found, JSONComparison.equal(expected, found) { return nil }
            return Mismatch(path: path, expected: expected.scenarioText, found: found?.scenarioText ?? "nothing")
        }
    }

    private static func first(_ pairs: [(JSONValue, JSONValue?, String)]) -> Mismatch? {
        for (expected, found, path) in pairs {
            if let mismatch = mismatch(expected, found, at: path) { return mismatch }
        }
        return nil
    }
}
