import Foundation
import Sync

// Types of an app with the names of types of the library and the standard library.
struct JSONValue {}
struct RelatedRows {}
struct SyncProperty {}
struct SyncModel {}
struct EntityRowDecoder {}
struct EntityRowEncoder {}
struct EntityColumn {}
struct RowNumber {}
protocol EntityRecord {}
struct PartialKeyPath {}

nonisolated enum Rank: String, Sendable { case low, high }

nonisolated struct Spot: Codable, Hashable, Sendable { var street: String }

@Entity struct Team {
    var id: Int
    var name: String
    @Relationship(inverse: \Player.team, deleteRule: .cascade, ordered: true) var players: [Player]
}

@Entity struct Player {
    var id: UUID
    var name: String?
    var rank: Rank = Rank.low
    var spot: Spot?
    @Relationship var team: Team?
    @Relationship var friends: [Player]
}

@Entity(primaryKey: ["player", "year"]) struct Season {
    var year: Int
    var goals: Int?
    @Relationship var player: Player?
}

enum League {
    @Entity("Cup") struct Trophy {
        @PrimaryKey var code: String
        var year: Int?
    }
}
