// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Odata {
    @Entity
    struct Owner {
        var id: Int
        var name: String?
    }

    @Entity
    struct Page {
        var id: Int
        @RemoteKey("@odata\\.etag") var etag: String?
        @RemoteKey("a\\.b") var flat: Int?
        @RemoteKey("a.b") var deep: Int?
        @RemoteKey("c.d\\.e") var inner: Int?
        @RemoteKey("c.d\\\\") var slash: Int?
        @Relationship @RemoteKey("owner\\.ref") var owner: Owner?
        @Relationship @RemoteKey("links.readers\\.refs") var readers: [Owner]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Owner.self,
            Page.self)
    }
}
