import Foundation
package import SyncCore
package import SyncStore

/// The reader of a store in memory.
package final class MemoryReader: StoreReader {
    private let current: () -> MemoryContents

    /// - Parameter current: Returns the contents to read. Inside a write, they are those of the transaction.
    init(_ current: @escaping () -> MemoryContents) { self.current = current }

    package func select(_ query: RowQuery) throws -> any StoreRowCursor {
        MemoryRowCursor(try StoredRows(current()).rows(query))
    }

    package func count(of entity: CompiledEntity, where predicate: RowPredicate) throws -> Int {
        try current().rows(of: entity, where: predicate).count
    }

    package func row(withKey key: RowKey, of entity: CompiledEntity) throws -> SyncRow? {
        let contents = current()
        guard let found = contents.rowKey(key, of: entity) else { return nil }
        let row = StoredRow(table: entity.table, key: found)
        guard let stored = contents[row], contents.model.entity(stored.entity, isKindOf: entity.id) else { return nil }
        return StoredRows(contents).syncRow(row)
    }

    package func rows(relatedTo rows: [RowKey], by relationship: CompiledRelationship, of owner: CompiledEntity) throws
        -> LinkedRows
    {
        StoredRows(current()).rows(relatedTo: rows, by: relationship)
    }

    package func hasPendingReferences() throws -> Bool { !current().pendingReferences.isEmpty }

    package func pendingRelationships(of rows: [RowKey], in table: TableID) throws -> Set<PendingRelationship> {
        let (contents, owners) = (current(), Set(rows))
        let found = contents.pendingReferences.keys.filter { $0.owner.table == table && owners.contains($0.owner.key) }
        return Set(
            found.map { reference in
                PendingRelationship(
                    owner: reference.owner.key, entity: contents.model.entities[reference.ownerEntity].name,
                    relationship: reference.relationship)
            })
    }
}

/// The rows of a query.
private final class MemoryRowCursor: StoreRowCursor {
    private var rest: ArraySlice<SyncRow>

    init(_ rows: [SyncRow]) { rest = rows[...] }

    func next(_ count: Int) throws -> [SyncRow] {
        let rows = rest.prefix(count)
        rest = rest.dropFirst(count)
        return Array(rows)
    }
}

/// The rows of a store as callers read them, and their order.
struct StoredRows {
    private let contents: MemoryContents
    private let lists: ListCache

    init(_ contents: MemoryContents) {
        self.contents = contents
        lists = ListCache(contents)
    }

    /// Returns the rows of a query, in its order.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate`, `unknownAttribute` or `invalidOption`.
    func rows(_ query: RowQuery) throws -> [SyncRow] {
        let terms = try query.order.terms.map { term in
            (path: try RowPath(term.attribute, on: query.entity, in: contents.model), isAscending: term.isAscending)
        }
        let found = try contents.rows(of: query.entity, where: query.predicate)
        var rows: [SortedRow] = []
        for key in found {
            let row = StoredRow(table: query.entity.table, key: key)
            rows.append(
                SortedRow(
                    row: row, values: terms.map { value(at: $0.path, of: row) }, key: keyValues(of: row, query.entity)))
        }
        rows.sort { $0.isBefore($1, terms.map(\.isAscending)) }
        let count = query.limit.map { max($0, 0) } ?? rows.count
        return rows.dropFirst(max(query.offset, 0)).prefix(count).compactMap { syncRow($0.row) }
    }

    func rows(relatedTo rows: [RowKey], by relationship: CompiledRelationship) -> LinkedRows {
        let table = contents.model[relationship.link].side(relationship.end.other).table
        var related = LinkedRows()
        var known: [RowKey: Int] = [:]
        for (index, row) in rows.enumerated() {
            for target in sortedTargets(of: row, relationship, in: table) {
                if known[target.key] == nil, let found = syncRow(target) {
                    known[target.key] = related.rows.count
                    related.rows.append(found)
                }
                if let position = known[target.key] { related.links.append((owner: index, row: position)) }
            }
        }
        return related
    }

    // MARK: Rows

    /// Returns the rows that a relationship links to a row: by position, then by primary key.
    private func sortedTargets(
        of row: RowKey, _ relationship: CompiledRelationship, in table: TableID
    ) -> [StoredRow] {
        let destination = contents.model.entities[relationship.destination]
        let links = lists.links(of: row, relationship).map { link in
            let target = StoredRow(table: table, key: link.other)
            return (
                position: link.position ?? .max,
                row: SortedRow(row: target, values: [], key: keyValues(of: target, destination))
            )
        }
        return links.sorted { left, right in
            left.position != right.position ? left.position < right.position : left.row.isBefore(right.row, [])
        }.map(\.row.row)
    }

    /// Returns a stored row as callers read it; nil if it is not stored.
    func syncRow(_ row: StoredRow) -> SyncRow? {
        guard let stored = contents[row] else { return nil }
        let entity = contents.model.entities[stored.entity]
        let read = contents.readValues(of: stored)
        let values = read.indices.map { entity.slots.contains($0) ? read[$0] : .null }
        let key =
            contents.primaryKey(of: row).map { $0.recordKey(contents.model.keyType(of: entity.id)) }
            ?? row.key.recordKey(nil)
        return SyncRow(type: entity, key: key, rowKey: row.key, values: values)
    }

    // MARK: Order

    /// Returns the value at a path; null if a to-one relationship on the path references no row.
    private func value(at path: RowPath, of row: StoredRow) -> StoredValue {
        var row = row
        for hop in path.hops {
            guard let next = target(of: row, hop) else { return .null }
            row = next
        }
        switch path.end {
        case .attribute(let slot): return contents[row]?.values[slot] ?? .null
        case .count(let relationship): return .integer(Int64(lists.targets(of: row.key, relationship).count))
        case .target(let relationship):
            guard let target = target(of: row, relationship) else { return .null }
            let key = contents.primaryKey(of: target) ?? target.key
            guard case .single(let type)? = contents.model.keyType(of: relationship.destination) else {
                return StoredValue(key, as: .string)
            }
            return StoredValue(key, as: type)
        }
    }

    private func target(of row: StoredRow, _ relationship: CompiledRelationship) -> StoredRow? {
        let table = contents.model[relationship.link].side(relationship.end.other).table
        return lists.targets(of: row.key, relationship).first.map { StoredRow(table: table, key: $0) }
    }

    /// Returns the values by which rows of an entity are ordered if all terms are equal: the primary key, then the row
    /// key.
    private func keyValues(of row: StoredRow, _ entity: CompiledEntity) -> [StoredValue] {
        let rowKey = StoredValue(row.key, as: .string)
        if let slot = entity.keySlot { return [contents[row]?.values[slot] ?? .null, rowKey] }
        return parts(of: row, entity) + [rowKey]
    }

    /// Returns the values of the parts of a composite key, also of those inside parts.
    private func parts(of row: StoredRow, _ entity: CompiledEntity) -> [StoredValue] {
        (entity.compositeKey?.parts ?? []).flatMap { part -> [StoredValue] in
            switch part {
            case .attribute(let slot): return [contents[row]?.values[slot] ?? .null]
            case .relationship(let index):
                guard let target = target(of: row, entity.relationships[index]), let stored = contents[target] else {
                    return [.null]
                }
                let destination = contents.model.entities[stored.entity]
                return destination.keySlot.map { [stored.values[$0]] } ?? parts(of: target, destination)
            }
        }
    }
}

/// A row with the values by which it is ordered.
private struct SortedRow {
    let row: StoredRow
    let values: [StoredValue]
    let key: [StoredValue]

    func isBefore(_ other: SortedRow, _ isAscending: [Bool]) -> Bool {
        for (index, isAscending) in isAscending.enumerated() {
            let (left, right) = (values[index], other.values[index])
            if left.isBefore(right) { return isAscending }
            if right.isBefore(left) { return !isAscending }
        }
        for (left, right) in zip(key, other.key) {
            if left.isBefore(right) { return true }
            if right.isBefore(left) { return false }
        }
        return false
    }
}

extension StoredValue {
    /// Returns whether a value comes before another one of the same type: null first, numbers and dates by value, and
    /// other values by the bytes of their text.
    fileprivate func isBefore(_ other: StoredValue) -> Bool {
        switch (self, other) {
        case (_, .null): false
        case (.null, _): true
        case (.decimal(let left), .decimal(let right)): left < right
        case (.date(let left), .date(let right)): left < right
        case (.binary(let left), .binary(let right)): left.lexicographicallyPrecedes(right)
        default: RowKey(self).flatMap { left in RowKey(other).map { left.isBefore($0) } } ?? false
        }
    }
}
