import SyncCore

/// Counts the duplicate and the inconsistent records of a payload, whether they are effective or not.
struct ReferenceDuplicates {
    /// The identity of a row in a payload.
    indirect enum Row: Hashable {
        case key(owner: Int?, StoredValue)
        case owned(by: Row, relationship: String, position: Int)
    }

    /// The value of an attribute, or all links of a relationship, in one record.
    private enum Assertion: Equatable {
        case value(StoredValue)
        case links(Set<Row>)
    }

    private struct Statement {
        let row: Row
        let name: String
        let record: Int
        let order: Int
        let assertion: Assertion
    }

    /// The enclosing row of a nested record, and the relationship from that row to the record.
    private struct Arrival {
        let row: Row
        let key: StoredValue?
        let relationship: CompiledRelationship
        var position: Int?
    }

    private let sync: ReferenceSync
    private var entities: [Row: CompiledEntity] = [:]
    private var roots: Set<Row> = []
    private var statements: [Statement] = []
    private var records = 0
    private var statementCount = 0
    private(set) var duplicateRecordCount = 0

    init(
        _ records: [JSONValue], of entity: CompiledEntity,
        childrenOf parent: (key: StoredValue, relationship: CompiledRelationship)?, in sync: ReferenceSync
    ) {
        self.sync = sync
        let arrival = parent.map { parent in
            let owner = sync.model.compiled.entities[parent.relationship.owner].keyOwner
            return Arrival(row: .key(owner: owner, parent.key), key: parent.key, relationship: parent.relationship)
        }
        for record in records {
            guard let row = visit(record, as: entity, arrival) else { continue }
            if !roots.insert(row).inserted { duplicateRecordCount += 1 }
        }
    }

    /// The number of records that are inconsistent with an earlier record of the same row.
    var inconsistentRecordCount: Int {
        var found: Set<Int> = []
        for group in Dictionary(grouping: statements, by: \.row).values.flatMap({
            Dictionary(grouping: $0, by: \.name).values
        }) {
            let inOrder = group.sorted { $0.order < $1.order }
            for (index, statement) in inOrder.enumerated()
            where inOrder[..<index].contains(where: { $0.assertion != statement.assertion }) {
                found.insert(statement.record)
            }
        }
        return found.count
    }

    private mutating func add(_ assertion: Assertion, of name: String, _ row: Row, by record: Int, at order: Int) {
        statements.append(Statement(row: row, name: name, record: record, order: order, assertion: assertion))
    }

    // MARK: Records

    /// Visits a record and the records nested in it.
    ///
    /// - Parameter wayBack: The owner of the enclosing row, if the relationship to the record leads back to the owner.
    ///   A record without a key then describes the owner.
    private mutating func visit(
        _ json: JSONValue, as asked: CompiledEntity, _ arrival: Arrival?, wayBack: Row? = nil
    ) -> Row? {
        guard let entity = sync.store.entity(of: json, as: asked) else { return nil }
        let reading = ReferenceReading(json, as: entity, of: sync.store)
        let number = records
        records += 1
        let row = self.row(of: reading, entity, arrival, wayBack)
        if let row { record(reading, of: row, as: entity, by: number) }
        for (relationship, statement, destination) in reading.statements {
            statementCount += 1
            add(statement, relationship, to: destination, of: row, arrival, by: number, at: statementCount)
        }
        return row
    }

    private mutating func row(
        of reading: ReferenceReading, _ entity: CompiledEntity, _ arrival: Arrival?, _ wayBack: Row?
    ) -> Row? {
        if sync.store.keyNames(of: entity).contains(where: reading.misfits.contains) { return nil }
        let supplied = arrival.flatMap { arrival in arrival.key.map { (by: arrival.relationship, key: $0) } }
        guard let key = sync.key(of: reading, entity, nil, supplied: supplied) else {
            if let arrival, let position = arrival.position, !sync.hasSomePart(reading, entity) {
                return .owned(by: arrival.row, relationship: arrival.relationship.name, position: position)
            }
            return wayBack
        }
        let row = Row.key(owner: entity.keyOwner, key)
        guard let known = entities[row] else {
            entities[row] = entity
            return row
        }
        if sync.model.compiled.entity(entity.id, isKindOf: known.id) {
            entities[row] = entity
        } else if !sync.model.compiled.entity(known.id, isKindOf: entity.id) {
            return nil
        }
        return row
    }

    private mutating func record(_ reading: ReferenceReading, of row: Row, as entity: CompiledEntity, by record: Int) {
        statementCount += 1
        for (name, value) in reading.values {
            guard let slot = entity.slotByName[name] else { continue }
            let isOptional = sync.model.compiled[entity.table].attributes[slot].isOptional
            if value.isNull, !isOptional || entity.keySlots.contains(slot) { continue }
            add(.value(value), of: name, row, by: record, at: statementCount)
        }
    }

    // MARK: Relationships

    private mutating func add(
        _ statement: ReferenceReading.Statement, _ relationship: CompiledRelationship, to destination: CompiledEntity,
        of row: Row?, _ arrival: Arrival?, by record: Int, at order: Int
    ) {
        let isWayBack =
            !relationship.isToMany && arrival?.relationship.link == relationship.link
            && arrival.map { sync.store.farEnd($0.relationship) == relationship.end } ?? false
        var inner: Arrival?
        if let row, !isWayBack {
            var key: StoredValue?
            if case .key(_, let known) = row { key = known }
            inner = Arrival(row: row, key: key, relationship: relationship)
        }
        switch statement {
        case .object(let json):
            if inner != nil { inner?.position = 0 }
            let child = visit(json, as: destination, inner, wayBack: isWayBack ? arrival?.row : nil)
            if let row, !isWayBack, let child {
                add(.links([child]), of: relationship.name, row, by: record, at: order)
            }
        case .objects(let list):
            var readable = 0
            var children: Set<Row> = []
            for json in list {
                if !destination.isKeyed, inner != nil { inner?.position = readable }
                guard let child = visit(json, as: destination, inner) else { continue }
                readable += 1
                children.insert(child)
            }
            let isWhole = sync.operations.contains(.deleteRelationships) && (readable > 0 || list.isEmpty)
            if let row, isWhole { add(.links(children), of: relationship.name, row, by: record, at: order) }
        case .id(let id):
            guard let row, !isWayBack, let key = sync.store.key(id, of: destination) else { return }
            let target = Row.key(owner: destination.keyOwner, key)
            add(.links([target]), of: relationship.name, row, by: record, at: order)
        case .ids(let ids):
            guard let row, destination.isKeyed || ids.isEmpty else { return }
            let keys = ids.compactMap { sync.key($0, relationship, listedBy: inner?.key) }
            let targets = Set(keys.map { Row.key(owner: destination.keyOwner, $0) })
            add(.links(targets), of: relationship.name, row, by: record, at: order)
        case .null, .nothing:
            if let row, !isWayBack { add(.links([]), of: relationship.name, row, by: record, at: order) }
        }
    }
}

/// A record of the payload, with the row that it describes.
struct ReferenceOccurrence: Sendable {
    /// The link assertion of the record for one relationship.
    struct Statement: Sendable {
        enum Target: Sendable {
            /// The row of a nested record, and whether the record may be linked.
            case row(ReferenceRow.ID, links: Bool)
            /// The key of a row, which may be stored or not.
            case key(ReferenceTarget)
        }

        var relationship: CompiledRelationship
        var targets: [Target] = []
        /// Whether links to rows that are not among the targets are removed.
        var removes = false
        /// The rows to which links may be removed; nil for all rows.
        var removable: Set<ReferenceRow.ID>?
        /// Whether the rows of removed links are deleted too.
        var deletes = false
        /// Whether the sync ignores the assertion. The nested records still apply.
        var isOverruled = false
        /// The nested records, in document order.
        var inner: [ReferenceOccurrence] = []
    }

    var row: ReferenceRow.ID
    var statements: [Statement] = []

    /// The assertions of the record and of its nested records that the sync applies, in document order, each with its
    /// row.
    var allStatements: [(row: ReferenceRow.ID, statement: Statement)] {
        statements.flatMap { statement in
            (statement.isOverruled ? [] : [(row, statement)]) + statement.inner.flatMap(\.allStatements)
        }
    }
}
