import Foundation
import Sync

/// Records of random shape: keys that clash, values of mixed types, nesting, links. Equal seeds give equal records.
struct RandomRecords {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    private static let keys = [
        "name", "Name", "userId", "user_id", "userID", "user", "users", "thing", "thing_id", "thingIds", "first name",
        "@type", "type", "description", "🦊", "🐻", "a.b", "tag_ids", "tags", "tag", "ISBN", "rowid", "remote_id",
        "parent", "parent_id", "children", "value", "2fa", "_id", "company", "company_id", "companyID", "x-y", "x_y",
    ]

    mutating func payload() -> Data {
        let records = (1...(1 + below(5))).map { record(id: $0, depth: 0) }
        return Data("[\(records.joined(separator: ","))]".utf8)
    }

    private mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(truncatingIfNeeded: state >> 33) % limit
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    private mutating func record(id: Int?, depth: Int) -> String {
        var members = id.map { ["\"id\": \($0)"] } ?? []
        for key in Set((0..<below(6)).map { _ in pick(Self.keys) }).sorted() {
            members.append("\"\(key)\": \(value(depth: depth))")
        }
        return "{\(members.joined(separator: ", "))}"
    }

    private mutating func value(depth: Int) -> String {
        switch below(depth < 3 ? 14 : 10) {
        case 0, 1: return "null"
        case 2: return pick(["true", "false"])
        case 3, 4: return "\(below(5))"
        case 5: return pick(["1.5", "7.0", "1e2", "-0", "12345678901234567890", "0.12345678901234567890", "1e400"])
        case 6: return pick(["\"x\"", "\"\"", "\"2024\"", "\"3\"", "\"https://a.example\"", "\"1e3\""])
        case 7: return pick(["\"2024-02-29T10:00:00Z\"", "\"2024-02-29\"", "\"2024-02-30\""])
        case 8: return "\"0F8FAD5B-D9CB-469F-A165-70867728950\(below(3))\""
        case 9: return pick(["[]", "[1, 2]", "[null]", "[1, \"a\"]", "[true]", "[[1]]", "{}"])
        case 10, 11: return record(id: below(6) == 0 ? nil : below(4), depth: depth + 1)
        case 12:
            let hasIDs = below(4) > 0
            let elements = (0..<below(4)).map { _ in record(id: hasIDs ? below(5) : nil, depth: depth + 1) }
            return "[\(elements.joined(separator: ", "))]"
        default: return record(id: nil, depth: depth + 1)
        }
    }
}
