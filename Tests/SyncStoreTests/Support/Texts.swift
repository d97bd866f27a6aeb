import SyncCore

@testable import SyncStore

extension LinkedRows {
    static func of(_ first: Int64, _ second: Int64) -> LinkedRows {
        LinkedRows(first: .integer(first), second: .integer(second))
    }

    var text: String { "\(first.recordKey(nil))–\(second.recordKey(nil))" }
}

extension LinkPlaces {
    var text: String {
        func text(_ place: Int64?) -> String { place.map { "\($0)" } ?? "-" }
        return first == nil && second == nil ? "" : " at \(text(first)), \(text(second))"
    }
}

extension Sequence<RowKey> {
    var text: String { map { "\($0.recordKey(nil))" }.joined(separator: ", ") }
}

extension Sequence<LinkedRows> {
    var text: String { map(\.text).joined(separator: ", ") }
}
