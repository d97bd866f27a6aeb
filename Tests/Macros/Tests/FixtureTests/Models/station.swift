// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Station {
    @Entity(isKeyless: true)
    struct Draft {
    }

    @Entity(primaryKey: "takenAt")
    struct Reading {
        var takenAt: Date
        var value: Double?
        @Relationship(inverse: "readings", deleteRule: .noAction) @RemoteKey("at.station") @NotExported var station:
            Station?
    }

    @Entity
    struct Station {
        @PrimaryKey var code: String
        var count: Int? = -9007199254740993
        var ratio: Double? = 0.1
        var fee: Decimal? = Decimal(string: "1234567890.0123456789")
        var isOpen: Bool? = true
        var label: String = "\"quoted\"\u{a}\u{1}é"
        var openedAt: Date? = Date(timeIntervalSince1970: 1614834367.089)
        var serial: UUID? = UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF")
        var site: URL? = URL(string: "https://example.org/a?b=c#d")
        var icon: Data? = Data(base64Encoded: "AAECAw==")
        var settings: JSONValue? = (try? JSONValue(parsing: "{\"a\":{\"c\":true},\"b\":[1,2.5,null]}"))
        @Transformer("Vault") @Stored(as: .transformable) var secret: JSONValue?
        var plain: JSONValue?
        @Relationship(inverse: "station", deleteRule: .cascade, ordered: true) var readings: [Reading]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Draft.self,
            Reading.self,
            Station.self)
    }
}
