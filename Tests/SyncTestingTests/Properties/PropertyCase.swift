import SyncCore
import SyncTesting

/// A model and the syncs of a case.
struct PropertyCase: Sendable {
    /// The layout of the records of a payload.
    enum Shape: String, Sendable {
        case list
        /// The first record without an array.
        case loneObject
        /// One record a line; no bytes without records.
        case lines
    }

    struct Step: Sendable {
        var entity: String
        var payload: [JSONValue]
        var shape = Shape.list
        var operations = SyncOperations.all
        var predicate: String?
        var parent: SyncParent?
        var scope = SyncOptions.Scope.automatic
        /// The attribute for the member names of its records, if these are written as keyed objects.
        var keyedBy: KeyedBy?

        var options: SyncOptions {
            // The reference store has no deletion limit.
            var options = SyncOptions(scope: scope, deletionLimit: nil)
            options.keyedBy = keyedBy
            return options
        }
        /// The payload as one value; lines as a list.
        var root: JSONValue { shape == .loneObject ? payload.first ?? .object([]) : .array(payload) }

        /// Whether some records are effective for new rows and not for stored rows.
        var countsOnlyOnce: Bool {
            operations.contains(.insert) && !operations.contains(.update)
                || operations.contains(.insertRelationships) && !operations.contains(.updateRelationships)
        }
    }

    var model: SyncModel
    var steps: [Step]
    /// Whether each row has at most one occurrence in each payload.
    var namesOnce = false
    /// The parts in which it is synced again.
    var parts: PropertyParts.Size?
}

extension PropertyCase: CustomStringConvertible {
    var description: String {
        let schema = String(decoding: model.schemaFile(), as: UTF8.self)
        let line = schema.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " ")
        let layout = PropertyLayout(model: model)
        return line + "\n" + steps.map { $0.text(layout) }.joined(separator: "\n")
            + (parts.map { "\n\($0)" } ?? "")
    }
}

extension PropertyCase.Step {
    /// Returns the step in the form of scenarios.
    func text(_ layout: PropertyLayout) -> String {
        let root = (try? layout.root(of: self)) ?? root
        var members: [JSONValue.Member] = [.init("sync", root), .init("entity", .string(entity))]
        if shape == .lines { members.append(.init("as", .string(shape.rawValue))) }
        if let predicate { members.append(.init("where", .string(predicate))) }
        if let parent {
            var place: [JSONValue.Member] = [.init("entity", .string(parent.entity)), .init("id", parent.id)]
            if let relationship = parent.relationship { place.append(.init("relationship", .string(relationship))) }
            members.append(.init("parent", .object(place)))
        }
        if operations != .all {
            let names = SyncOperations.names.filter { operations.contains($0.operation) }.map(\.name)
            members.append(.init("operations", .array(names.map { .string($0) })))
        }
        var options: [JSONValue.Member] = []
        if scope == .all { options.append(.init("scope", "all")) }
        switch keyedBy {
        case .primaryKey: options.append(.init("keyedBy", .bool(true)))
        case .attribute(let name): options.append(.init("keyedBy", .string(name)))
        case nil: break
        }
        if !options.isEmpty { members.append(.init("options", .object(options))) }
        var text: [UInt8] = []
        JSONText.append(.object(members), to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}
