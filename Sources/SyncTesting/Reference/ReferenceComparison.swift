package import Sync
import SyncCore

/// A comparison of a store with a reference store: rows, links, and the order of links.
package enum ReferenceComparison {
    /// Returns descriptions of the differences; empty if there are none.
    ///
    /// The comparison pairs rows by their keys, and rows without a key by their index among the rows of their owner. It
    /// pairs rows without a key and an owner by their values.
    package static func differences(
        _ reference: ReferenceStore, _ stack: some SyncStack
    ) async throws -> [String] {
        var pairing = RowCorrespondence(reference, stack)
        try await pairing.match()
        return pairing.differences
    }
}

/// Pairs the rows of the reference with the rows of the store.
private struct RowCorrespondence {
    private let reference: ReferenceStore
    private let stack: any SyncStack
    private(set) var differences: [String] = []
    private var matches: [ReferenceRow.ID: SyncRow] = [:]
    private var rowOf: [RowName: ReferenceRow.ID] = [:]

    init(_ reference: ReferenceStore, _ stack: any SyncStack) {
        self.reference = reference
        self.stack = stack
    }

    mutating func match() async throws {
        var records = try await allRecords()
        var open: [ReferenceRow.ID] = []
        for (id, row) in reference.rows.sorted(by: { $0.key < $1.key }) {
            guard let key = reference.key(of: row) else { continue }
            guard
                let entry = records.firstIndex(where: {
                    $0.entity == row.entity.name && !isAnonymous($0) && reference.key($0.key.json, of: $0.type) == key
                })
            else {
                differences.append("\(text(id)) is missing")
                continue
            }
            add(id, records.remove(at: entry))
            open.append(id)
        }
        while let id = open.popLast() { open += try await compareLinks(of: id) }
        records.removeAll { rowOf[RowName($0)] != nil }
        try compareRest(records)
    }

    private func allRecords() async throws -> [SyncRow] {
        var records: [SyncRow] = []
        for entity in reference.model.compiled.entities where entity.parent == nil {
            records += try await stack.fetch(entity.name)
        }
        return records
    }

    private mutating func add(_ id: ReferenceRow.ID, _ record: SyncRow) {
        matches[id] = record
        rowOf[RowName(record)] = id
        for (name, value) in reference.rows[id]?.values ?? [:] where record[name] != value {
            differences.append(
                "\(text(id)).\(name) is \(record[name].map { "\($0)" } ?? "absent"), expected \(value)")
        }
    }

    // MARK: Links

    /// Compares the links of a row with those of its paired row.
    ///
    /// - Returns: The linked rows without a key that this comparison paired.
    private mutating func compareLinks(of id: ReferenceRow.ID) async throws -> [ReferenceRow.ID] {
        guard let record = matches[id], let row = reference.rows[id] else { return [] }
        var found: [ReferenceRow.ID] = []
        for relationship in row.entity.relationships {
            let expected = reference.targets(of: id, relationship)
            let actual = try await stack.fetchRelated(relationship.name, of: record)
            var unpaired = actual.filter { rowOf[RowName($0)] == nil && isAnonymous($0) }
            for target in expected where matches[target] == nil && isAnonymous(target) {
                guard !unpaired.isEmpty else { break }
                add(target, unpaired.removeFirst())
                found.append(target)
            }
            let expectedText = expected.map(text)
            let actualText = actual.map { rowOf[RowName($0)].map(text) ?? "\($0)" }
            var same = expectedText.sorted() == actualText.sorted()
            if relationship.isOrdered {
                // Rows that the last list omits follow its rows, in any order.
                same = same && actualText.starts(with: reference.orderedTargets(of: id, relationship).map(text))
            }
            if !same {
                differences.append(
                    "\(text(id)).\(relationship.name) references \(actualText), expected \(expectedText)")
            }
        }
        return found
    }

    private func isAnonymous(_ id: ReferenceRow.ID) -> Bool {
        reference.rows[id].map { reference.key(of: $0) == nil } ?? false
    }

    private func isAnonymous(_ record: SyncRow) -> Bool {
        guard let slot = record.type.keySlot else { return !record.type.isKeyed }
        return record[reference.model.compiled[record.type.table].attributes[slot].name]?.isNull != false
    }

    /// Compares the remaining rows by their values. These rows have no key, and no paired row has a link to them.
    private mutating func compareRest(_ records: [SyncRow]) throws {
        var left = records
        for (id, row) in reference.rows where matches[id] == nil && isAnonymous(id) {
            guard
                let entry = left.firstIndex(where: { record in
                    record.entity == row.entity.name && row.values.allSatisfy { record[$0.key] == $0.value }
                })
            else {
                differences.append("\(text(id)) is missing")
                continue
            }
            left.remove(at: entry)
        }
        differences += left.map { "\($0) is unexpected" }
    }

    private func text(_ id: ReferenceRow.ID) -> String {
        guard let row = reference.rows[id] else { return "?" }
        guard let key = reference.recordKey(row) else { return "\(row.entity.name) without a key (row \(id))" }
        return "\(row.entity.name) \(key)"
    }
}

/// The entity and key of a stored row.
private struct RowName: Hashable {
    let entity: String
    let key: PrimaryKeyValue

    init(_ record: SyncRow) {
        entity = record.entity
        key = record.key
    }
}
