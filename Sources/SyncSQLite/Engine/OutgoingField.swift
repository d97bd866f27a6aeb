import GRDB
import SyncCore

/// One field of a row, with its current value.
struct OutgoingField {
    let name: String
    let column: TrackedTable.Column?
    let pairs: TrackedTable.JoinTable?
    let value: DatabaseValue
    /// The linked keys of a list.
    let others: [DatabaseValue]

    func matches(_ domain: OutgoingSchema.Field) -> Bool {
        switch domain {
        case .pairs(let link, let end): pairs?.link == link && pairs?.end == end
        case .attribute, .toOne, .kind: column?.domain == domain
        }
    }
}
