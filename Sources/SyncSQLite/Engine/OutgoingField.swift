import GRDB
import SyncCore

/// One field of a row, with its current value.
struct OutgoingField {
    let name: String
    let column: TrackedTable.Column?
    let joinTable: TrackedTable.JoinTable?
    let value: DatabaseValue
    /// The keys of the linked rows, if the field is a list.
    let others: [DatabaseValue]

    func matches(_ field: OutgoingSchema.Field) -> Bool {
        switch field {
        case .joinRows(let link, let end): joinTable?.link == link && joinTable?.end == end
        case .attribute, .toOne, .kind: column?.field == field
        }
    }
}
