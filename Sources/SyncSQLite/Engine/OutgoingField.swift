import GRDB
import SyncCore

/// One domain of a row, as it is now.
struct OutgoingField {
    let name: String
    let column: TrackedTable.Column?
    let pairs: TrackedTable.JoinTable?
    let value: DatabaseValue
    /// Of pairs.
    let others: [DatabaseValue]

    func matches(_ domain: OutgoingSchema.Field) -> Bool {
        switch domain {
        case .pairs(let link, let end): pairs?.link == link && pairs?.end == end
        case .attribute, .toOne, .kind: column?.domain == domain
        }
    }
}
