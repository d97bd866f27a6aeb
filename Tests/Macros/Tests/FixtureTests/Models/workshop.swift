// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Workshop {
    @Entity
    struct Bench {
        var id: Int
        @Relationship var tool: Tool?
        @Relationship var colour: Colour?
        @Relationship var shades: [Colour]
    }

    @Entity
    struct Box {
        var id: Int
        @Relationship(inverse: "box") var tool: Tool?
    }

    @Entity(primaryKey: "code")
    struct Colour {
        var code: Int
        var name: String?
    }

    @Entity
    struct Label {
        var id: Int
        @Relationship(inverse: "labels") var tools: [Tool]
    }

    @Entity
    struct Part {
        var id: Int
        @Relationship(inverse: "parts") var tool: Tool?
    }

    @Entity(isKeyless: true)
    struct Sticker {
        var text: String?
        @Relationship(inverse: "stickers") var tools: [Tool]
    }

    @Entity
    struct Tool {
        var id: String
        var name: String?
        var maker: String?
        @Relationship(inverse: "tool") var box: Box?
        @Relationship(inverse: "tool") var parts: [Part]
        @Relationship(inverse: "tools") var labels: [Label]
        @Relationship(inverse: "tools") var stickers: [Sticker]
        @Relationship(inverse: "fittedBy") var fits: [Tool]
        @Relationship(inverse: "fits") var fittedBy: [Tool]
        @Relationship(inverse: "goesWith") var goesWith: [Tool]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Bench.self,
            Box.self,
            Colour.self,
            Label.self,
            Part.self,
            Sticker.self,
            Tool.self)
    }
}
