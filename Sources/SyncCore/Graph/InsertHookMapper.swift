/// A mapper that calls an insert hook with the records of new rows, outer records first. The mapper then maps the
/// payload again with the returned records.
///
/// Only the store can determine which rows are new. The store therefore matches each mapping with the stored rows,
/// until the hook has received all new rows.
package struct InsertHookMapper: Sendable {
    typealias Hook = @Sendable (SyncOptions.Insertion) throws -> JSONValue

    typealias Mapping = @Sendable ([JSONValue]) throws -> PayloadGraph

    let map: Mapping
    /// Maps the final payload strictly, so that a value of the wrong type is an error; nil if the sync is not strict.
    let mapStrictly: Mapping?
    let model: SyncModel
    let hook: Hook
    var records: [JSONValue]
    /// The paths of the records that the hook has replaced.
    var answeredPaths: Set<RecordPath> = []

    init(
        _ records: [JSONValue], of model: SyncModel, hook: @escaping Hook, map: @escaping Mapping, mapStrictly: Mapping?
    ) {
        self.records = records
        self.model = model
        self.hook = hook
        self.map = map
        self.mapStrictly = mapStrictly
    }

    /// Returns the final payload graph, after the hook has seen all new rows.
    package func finalGraph(_ graph: PayloadGraph) throws -> PayloadGraph { try mapStrictly?(records) ?? graph }
}

/// The path of a record in a payload: the index of its root record, and the steps from the root record.
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

    /// Returns `tree` with a new value at the end of the steps; unchanged if the steps lead to no value.
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

/// Two records of a payload that describe one row with different values.
struct RecordInconsistency: Sendable {
    /// The values of one attribute or relationship in both records, as text.
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

    /// Returns a message: `differs from [0], which has the same key: 'name' is "b" here and "a" there`. If `revealing`
    /// is false, the message omits the values.
    func message(revealing: Bool) -> String {
        let told = differences.map {
            revealing ? "'\($0.name)' is \($0.value) here and \($0.earlierValue) there" : "'\($0.name)'"
        }
        let list = TruncatedList(told).text(between: revealing ? ", " : " and ")
        return "differs from \(earlierPath), which has the same key: \(list)"
            + (revealing ? "" : differences.count == 1 ? " differs" : " differ")
    }

    func diagnostic(revealing: Bool) -> SyncDiagnostic {
        SyncDiagnostic(
            .inconsistentRecords, entity: entity, key: key, path: path, message: message(revealing: revealing))
    }

    func error(revealing: Bool) -> SyncError {
        SyncError(
            .inconsistentRecords,
            "inconsistent records: the record \(message(revealing: revealing))",
            entity: entity, path: path)
    }
}

extension SyncOptions {
    /// A record that a sync is about to insert as a new row. The sync passes the insertion to
    /// ``SyncOptions/willInsert``.
    public struct Insertion: Sendable, Hashable {
        /// The entity of the new row.
        public var entity: String
        /// The record in the payload. If several records have the same primary key, the sync merges their members. A
        /// later member replaces an earlier member with the same JSON key.
        public var record: JSONValue
        /// The row of the enclosing record; for a root record, the parent of the sync; nil if there is neither. If
        /// several records have the same primary key, the first of these records determines the parent.
        public var parent: SyncParent?
    }
}
