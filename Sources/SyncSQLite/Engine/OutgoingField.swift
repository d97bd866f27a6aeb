import GRDB
import SyncCore

/// One domain of a row, as it is now.
struct OutgoingDomain {
    let name: String
    let column: EngineTable.Column?
    let pairs: EngineTable.Pairs?
    let value: DatabaseValue
    /// Of pairs.
    let others: [DatabaseValue]

    func matches(_ domain: OutgoingShape.Domain) -> Bool {
        switch domain {
        case .pairs(let link, let end): pairs?.link == link && pairs?.end == end
        case .attribute, .toOne, .kind: column?.domain == domain
        }
    }
}
