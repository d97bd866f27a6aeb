/// Shows a hook the records that become new rows, outer ones first, and maps the payload again with its answers.
///
/// Only the store knows which rows are new. So it is asked after each mapping, until the hook has seen them all.
package struct InsertHookMapper: Sendable {
    typealias Hook = @Sendable (SyncOptions.Insertion) throws -> JSONValue

    typealias Mapping = @Sendable ([JSONValue]) throws -> PayloadGraph

    let map: Mapping
    /// Maps the payload in its last form, where a value that does not fit is an error.
    let mapStrictly: Mapping?
    let model: SyncModel
    let hook: Hook
    var records: [JSONValue]
    /// Where answers of the hook stand.
    var settled: Set<RecordPath> = []

    init(
        _ records: [JSONValue], of model: SyncModel, hook: @escaping Hook, map: @escaping Mapping, mapStrictly: Mapping?
    ) {
        self.records = records
        self.model = model
        self.hook = hook
        self.map = map
        self.mapStrictly = mapStrictly
    }

    /// The plan, once the hook has seen all new rows.
    package func settled(_ plan: PayloadGraph) throws -> PayloadGraph { try mapStrictly?(records) ?? plan }
}

/// Where a record stands in a payload: which root record it is or is nested in, and the way from there.
struct RecordPath: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        case index(Int)
        case key(String)
    }

    var root: Int
    var steps: [Step]
}

extension RecordPath {
    func value(in records: [JSONValue]) -> JSONValue? {
        guard records.indices.contains(root) else { return nil }
        var value = records[root]
        for step in steps {
            switch (step, value) {
            case (.index(let index), .array(let elements)) where elements.indices.contains(index):
                value = elements[index]
            case (.key(let key), _):
                guard let member = value[key] else { return nil }
                value = member
            default: return nil
            }
        }
        return value
    }

    func replace(in records: inout [JSONValue], with value: JSONValue) {
        guard records.indices.contains(root) else { return }
        records[root] = Self.replacing(steps[...], in: records[root], with: value)
    }

    /// The tree with another value at the end of the way.
    private static func replacing(_ steps: ArraySlice<Step>, in tree: JSONValue, with value: JSONValue) -> JSONValue {
        guard let step = steps.first else { return value }
        switch (step, tree) {
        case (.index(let index), .array(var elements)) where elements.indices.contains(index):
            elements[index] = replacing(steps.dropFirst(), in: elements[index], with: value)
            return .array(elements)
        case (.key(let key), .object(var members)):
            guard let index = members.lastIndex(where: { $0.key.utf8.elementsEqual(key.utf8) }) else { return tree }
            members[index].value = replacing(steps.dropFirst(), in: members[index].value, with: value)
            return .object(members)
        default: return tree
        }
    }
}

/// Two records of a payload that are the same row and say different things of it.
struct RecordInconsistency: Sendable {
    /// What both say of one attribute or single link, as JSON.
    struct Difference: Sendable {
        let name: String
        let value: String
        let earlierValue: String
    }

    let entity: String
    let key: String?
    let path: String
    let earlierPath: String
    var differences: [Difference]

    /// `contradicts [0]: 'name' is "b", was "a"`; without the values if they are not to be shown.
    func message(revealing: Bool) -> String {
        let told = differences.map {
            revealing ? "'\($0.name)' is \($0.value), was \($0.earlierValue)" : "'\($0.name)'"
        }
        let list = TruncatedList(told).text(between: revealing ? ", " : " and ")
        return "contradicts \(earlierPath): \(list)"
            + (revealing ? "" : differences.count == 1 ? " differs" : " differ")
    }

    func diagnostic(revealing: Bool) -> SyncResult.Diagnostic {
        SyncResult.Diagnostic(
            .contradictingRecord, entity: entity, key: key, path: path, message: message(revealing: revealing))
    }

    func error(revealing: Bool) -> SyncError {
        SyncError(
            .contradictingRecords,
            "the record \(message(revealing: revealing)); of one row all records must say the same",
            entity: entity, path: path)
    }
}

extension SyncOptions {
    /// A record that is about to become a new row, as ``SyncOptions/willInsert`` is shown it.
    public struct Insertion: Sendable, Hashable {
        /// The row that a record is nested under.
        public struct Parent: Sendable, Hashable {
            /// The entity of the parent.
            public var entity: String
            /// Its key; nil if it has none.
            public var key: PrimaryKeyValue?
        }

        /// The entity of the new row.
        public var entity: String
        /// The record as the payload has it. If the payload has several with this key, their members together, later ones
        /// over earlier ones.
        public var record: JSONValue
        /// The record that this one is nested in, or the parent of the sync; nil for others.
        public var parent: Parent?
    }
}
