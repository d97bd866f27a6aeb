import SyncCore

@testable import SyncStore

extension JoinKey {
    static func of(_ first: Int64, _ second: Int64) -> JoinKey {
        JoinKey(first: .integer(first), second: .integer(second))
    }

    var text: String { "\(first.recordKey(nil))–\(second.recordKey(nil))" }
}

extension LinkPositions {
    var text: String {
        func text(_ place: Int64?) -> String { place.map { "\($0)" } ?? "-" }
        return first == nil && second == nil ? "" : " at \(text(first)), \(text(second))"
    }
}

extension Sequence<RowKey> {
    var text: String { map { "\($0.recordKey(nil))" }.joined(separator: ", ") }
}

extension Sequence<JoinKey> {
    var text: String { map(\.text).joined(separator: ", ") }
}
