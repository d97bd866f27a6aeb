import Foundation
import Sync

/// Measures the cost of a value, from its bytes to its node, including its key and its share of the object.
enum ValueKind: String, CaseIterable {
    case string, date, uuid, integer, double, boolean, null
    case integerText = "integer as text"
    case doubleText = "double as text"
    case unixTime = "date as Unix time"
    case unknownKey = "key the model does not have"

    private static let records = 20_480
    private static let values = 10

    func measure() async throws -> Measurement {
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
        let json = payload
        let time = try await median(of: 5) {
            try await Staging.secondsPerByte(json, inEntity: "Item", stack: stack)
        }
        let value = time * Double(json.count) / Double(Self.records * Self.values) * 1e9
        return Measurement(name: "value: \(rawValue)", value: value, unit: "ns")
    }

    private var schema: String {
        let attributes = (0..<Self.values).map { #""value\#($0)": "\#(type)""# }.joined(separator: ", ")
        return #"{"entities": {"Item": {"attributes": {"id": "integer", \#(attributes)}}}}"#
    }

    private var payload: Data {
        let name = self == .unknownKey ? "other" : "value"
        let records = (0..<Self.records).map { record in
            let values = (0..<Self.values).map { #""\#(name)\#($0)":\#(text(record * Self.values + $0))"# }
            return #"{"id":\#(record),\#(values.joined(separator: ","))}"#
        }
        return Data("[\(records.joined(separator: ","))]".utf8)
    }

    private var type: String {
        switch self {
        case .string, .null, .unknownKey: "string"
        case .date, .unixTime: "date"
        case .uuid: "uuid"
        case .integer, .integerText: "integer"
        case .double, .doubleText: "double"
        case .boolean: "boolean"
        }
    }

    private func text(_ index: Int) -> String {
        let (second, minute, day) = (10 + index % 50, 10 + index / 50 % 50, 10 + index % 18)
        return switch self {
        case .string, .unknownKey: "\"twenty-five letters \(10_000 + index % 90_000)\""
        case .date: "\"2024-02-\(day)T18:\(minute):\(second)+02:00\""
        case .uuid: "\"6f9619ff-8b86-4d01-b42d-\(100_000_000_000 + index)\""
        case .integer: "\(1_000_000 + index)"
        case .integerText: "\"\(1_000_000 + index)\""
        case .double: "\(1000 + index % 9000).\(100 + index % 900)"
        case .doubleText: "\"\(1000 + index % 9000).\(100 + index % 900)\""
        case .boolean: index % 2 == 0 ? "true" : "false"
        case .null: "null"
        case .unixTime: "\(1_700_000_000 + index)"
        }
    }
}
