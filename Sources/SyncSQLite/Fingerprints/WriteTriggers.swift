import SyncCore
import SyncStore

/// The triggers that record what is written to a store's tables.
///
/// A change of a row's key counts as one of its links too: what points to a row does so by its key, and a list that
/// leaves a row out because its key is a local one may not once it has another.
struct WriteTriggers {
    let layout: StoreLayout
    private let places: WrittenPlaces

    init(_ layout: StoreLayout) {
        self.layout = layout
        places = WrittenPlaces(layout.model)
    }

    var statements: [String] {
        layout.model.trees.flatMap(table) + layout.model.links.flatMap { joinTable($0.id) } + pending + forgetting
    }

    // MARK: Tables

    private func table(_ tree: EntityTree) -> [String] {
        let table = layout[tree.id]
        let key = table.keyColumn
        let row = places.row(tree.id)
        let gone = places.gone(tree.id)
        let keys = keySlots(tree).map { (places.key(tree.id, slot: $0), table.columns[$0]) }
        let links = tree.foreignKeys.flatMap { foreignKey($0) }
        let ends = links.map { ($0.place, $0.isOwn ? key : $0.column) }
        let all = [(row, key)] + keys + ends
        let parted = partedKeys(tree)
        let identity = identityColumns(tree) + keys.map(\.1) + parted.flatMap(\.key.columns)
        func parts(_ version: String) -> [String] { parted.map { note($0.place, $0.key, version) } }
        let linkColumns = Set(links.map(\.column) + links.compactMap(\.order) + identity).sorted()
        // A row that takes the place of another may be of another entity: what it was is gone.
        let replaced = table.hasEntityColumn ? [(gone, key)] : []
        var triggers = [
            trigger(table.name, "insert", "INSERT", notes(all + replaced, "NEW") + parts("NEW")),
            trigger(table.name, "delete", "DELETE", notes(all + [(gone, key)], "OLD") + parts("OLD")),
            trigger(table.name, "update", "UPDATE", notes([(row, key)], "OLD")),
            trigger(
                table.name, "key", update(of: identity),
                notes([(row, key), (gone, key)] + keys, "OLD") + parts("OLD")
                    + notes([(row, key), (gone, key)] + keys, "NEW") + parts("NEW")),
        ]
        if !links.isEmpty {
            triggers.append(
                trigger(table.name, "links", update(of: linkColumns), notes(ends, "OLD") + notes(ends, "NEW")))
        }
        return triggers
    }

    /// What says which row of which entity a row is. An integer key has names that SQLite gives it too, and a trigger on
    /// a column does not fire where another name of it is written to.
    private func identityColumns(_ tree: EntityTree) -> [String] {
        let table = layout[tree.id]
        let isRowID = table.hasHiddenKey || SchemaSQL.keyType(tree) == "INTEGER"
        return [table.keyColumn] + (isRowID ? ["rowid", "oid", "_rowid_"] : [])
            + (table.hasEntityColumn ? [TableLayout.entityColumn] : [])
    }

    private func update(of columns: [String]) -> String {
        "UPDATE OF \(columns.map(\.quoted).joined(separator: ", "))"
    }

    /// The key attributes of a table whose rows have a hidden key.
    private func keySlots(_ tree: EntityTree) -> [Int] {
        guard layout[tree.id].hasHiddenKey else { return [] }
        return Set(tree.entities.compactMap { layout.model.entities[$0].keySlot }).sorted()
    }

    /// The keys of several parts that rows of a table have.
    private func partedKeys(_ tree: EntityTree) -> [(place: Int, key: KeyColumns)] {
        tree.entities.compactMap { id in
            let entity = layout.model.entities[id]
            guard entity.keyOwner == id, entity.compositeKey != nil, let key = KeyColumns(entity, layout) else {
                return nil
            }
            return (places.key(owner: id), key)
        }
    }

    /// A note of the columns of a key, as they are: a row that it is made of has its own place.
    private func note(_ place: Int, _ key: KeyColumns, _ version: String) -> String {
        // No two programs need spell a double the same.
        if key.leaves.contains(.double) { return note("\(WrittenPlaces.everything)", "0") }
        let columns = key.columns.map { "quote(\(version).\($0.quoted))" }.joined(separator: " || ',' || ")
        let isThere = key.columns.map { "\(version).\($0.quoted) IS NOT NULL" }.joined(separator: " AND ")
        return "INSERT INTO \"sync_written\" SELECT \(place), \(columns) WHERE \(isThere) ON CONFLICT DO NOTHING;"
    }

    /// Both ends of a foreign key: the row that has it, and the row it points to.
    private func foreignKey(_ id: LinkID) -> [(place: Int, column: String, order: String?, isOwn: Bool)] {
        guard case .foreignKey(_, let column, let order) = layout[id] else { return [] }
        return [
            (places.links(id, .first), column, order, true), (places.links(id, .second), column, order, false),
        ]
    }

    private func joinTable(_ id: LinkID) -> [String] {
        guard case .joinTable(let name, let first, let second, _, _) = layout[id] else { return [] }
        let ends = [(places.links(id, .first), first), (places.links(id, .second), second)]
        return [
            trigger(name, "insert", "INSERT", notes(ends, "NEW")),
            trigger(name, "delete", "DELETE", notes(ends, "OLD")),
            trigger(name, "update", "UPDATE", notes(ends, "OLD") + notes(ends, "NEW")),
        ]
    }

    /// References that wait for their rows are statements about the links of their owners.
    private var pending: [String] {
        [("INSERT", ["NEW"]), ("UPDATE", ["OLD", "NEW"]), ("DELETE", ["OLD"])].map { event, versions in
            trigger("sync_pending", event.lowercased(), event, versions.map(pendingNote))
        }
    }

    private func pendingNote(_ version: String) -> String {
        let cases = layout.model.entities.flatMap { entity in
            entity.relationships.map { relationship in
                "WHEN \("\(entity.name).\(relationship.name)".literal) THEN \(places.links(relationship.link, relationship.end))"
            }
        }
        guard !cases.isEmpty else { return note("\(WrittenPlaces.everything)", "0") }
        let name = "\(version).\("owner_entity".quoted) || '.' || \(version).\("relationship".quoted)"
        let place = "CASE \(name) \(cases.joined(separator: " ")) ELSE \(WrittenPlaces.everything) END"
        return note(place, "\(version).\("owner_key".quoted)")
    }

    /// Somebody else who forgets what was written leaves a note of it: only a sync says beforehand, by the number of the
    /// seal, that it is about to.
    private var forgetting: [String] {
        let note = "INSERT INTO \"sync_written\" VALUES (\(WrittenPlaces.everything), 0) ON CONFLICT DO NOTHING;"
        let permission = """
            SELECT 1 FROM "sync_written" WHERE "place" = \(WrittenPlaces.forgetting) \
            AND "key" = (SELECT "version" FROM "sync_fingerprint_seal")
            """
        return [("DELETE", "AND NOT EXISTS (\(permission))"), ("UPDATE", "")].map {
            event, permitted in
            TriggerSQL.create(
                "sync_written_sync_written_\(event.lowercased())", "AFTER \(event)", on: "sync_written",
                when: "OLD.\"place\" >= 0 \(permitted)", [note])
        }
    }

    // MARK: SQL

    private func trigger(_ table: String, _ name: String, _ event: String, _ notes: [String]) -> String {
        TriggerSQL.create(
            "sync_written_\(table)_\(name)", "AFTER \(event)", on: table,
            when: "EXISTS (SELECT 1 FROM \"sync_fingerprint\")", notes)
    }

    private func notes(_ columns: [(Int, String)], _ version: String) -> [String] {
        columns.map { place, column in note("\(place)", "\(version).\(column.quoted)") }
    }

    /// An upsert's own clause holds whatever the statement that fires the trigger says of conflicts.
    private func note(_ place: String, _ key: String) -> String {
        """
        INSERT INTO "sync_written" SELECT \(place), \(key) WHERE \(key) IS NOT NULL ON CONFLICT DO NOTHING;
        """
    }
}
