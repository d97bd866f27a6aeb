import SyncCore

/// Compares exported JSON with what a scenario expects.
///
/// A list of objects, and an object with the keys "0", "1", …, stand for a to-many relationship and compare as sets
/// unless the step says that order counts. Booleans equal 0 and 1.
struct ExportMatcher {
    var isOrdered = false

    func matches(_ expected: JSONValue, _ found: JSONValue) -> Bool {
        switch (expected, found) {
        case (.bool(let flag), .number(let text)), (.number(let text), .bool(let flag)):
            return JSONComparison.equal(text, flag ? "1" : "0")
        case (.array(let l), .array(let r)):
            return matches(l, r, asSet: !isOrdered && (l + r).allSatisfy(\.isObject))
        case (.object(let l), .object(let r)):
            let (left, right) = (Self.dictionary(l), Self.dictionary(r))
            guard left.count == right.count else { return false }
            if let l = Self.list(left), let r = Self.list(right), !l.isEmpty {
                return matches(l, r, asSet: !isOrdered)
            }
            return left.allSatisfy { key, value in right[key].map { matches(value, $0) } ?? false }
        default:
            return JSONComparison.equal(expected, found)
        }
    }

    private func matches(_ expected: [JSONValue], _ found: [JSONValue], asSet: Bool) -> Bool {
        guard expected.count == found.count else { return false }
        guard asSet else { return zip(expected, found).allSatisfy(matches) }
        var rest = found
        for value in expected {
            guard let index = rest.firstIndex(where: { matches(value, $0) }) else { return false }
            rest.remove(at: index)
        }
        return true
    }

    private static func dictionary(_ members: [JSONValue.Member]) -> [String: JSONValue] {
        Dictionary(members.map { ($0.key, $0.value) }) { $1 }
    }

    /// The values of an object whose keys are "0", "1", …, in that order.
    private static func list(_ object: [String: JSONValue]) -> [JSONValue]? {
        let values = (0..<object.count).map { object["\($0)"] }
        return values.contains { $0 == nil } ? nil : values.compactMap { $0 }
    }
}

extension JSONValue {
    fileprivate var isObject: Bool {
        guard case .object = self else { return false }
        return true
    }
}
