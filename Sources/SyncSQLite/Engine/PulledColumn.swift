import SyncCore

/// A column or join table of an entity, as `sync_entity` notes it.
struct PulledColumn: Hashable {
    var name: String
    /// The members of records that it is read from.
    let members: String
    /// Whether all rows were pulled so; else a pull that does so has begun.
    let isPulled: Bool

    /// The same, before all rows were pulled.
    var awaited: PulledColumn { PulledColumn(name: name, members: members, isPulled: false) }

    /// Those of a text; none of one that an earlier version wrote.
    static func all(in text: String) -> [PulledColumn] {
        guard case .array(let columns)? = try? JSONValue(parsing: text) else { return [] }
        return columns.compactMap { column in
            guard case .array(let parts) = column, parts.count == 3, case .string(let name) = parts[0],
                case .string(let members) = parts[1], case .bool(let isPulled) = parts[2]
            else { return nil }
            return PulledColumn(name: name, members: members, isPulled: isPulled)
        }
    }

    static func text(_ columns: [PulledColumn]) -> String {
        JSONValue.array(columns.map { .array([.string($0.name), .string($0.members), .bool($0.isPulled)]) }).text
    }
}
