// Written by 'syncdb schema swift'.

import Foundation
import Sync

enum Library {
    @Entity
    struct Author {
        var id: Int
        var fullName: String?
        @Relationship(inverse: "author") var books: [Book]
    }

    @Entity(primaryKey: "isbn")
    struct Book {
        var isbn: String
        var title: String?
        var pageCount: Int?
        var price: Decimal?
        var rating: Double?
        var isLent: Bool?
        var publishedAt: Date?
        var editionUUID: UUID?
        var coverURL: URL?
        var extra: JSONValue?
        var bookType: String?
        @RemoteKey("about.summary_text") var summary: String?
        var condition: String = "good"
        @Relationship(inverse: "books") var author: Author?
        @Relationship(inverse: "books") var shelf: Shelf?
        @Relationship(inverse: "books") var genres: [Genre]
        @Relationship(inverse: "book", deleteRule: .cascade, ordered: true) var reviews: [Review]
    }

    @Entity
    struct Genre {
        var id: String
        var name: String?
        @Relationship(inverse: "genres") var books: [Book]
    }

    @Entity(isKeyless: true)
    struct Review {
        var text: String?
        var stars: Int?
        @Relationship(inverse: "reviews") var book: Book?
    }

    @Entity
    struct Shelf {
        var remoteID: Int
        var label: String?
        @Relationship(inverse: "shelf") var books: [Book]
    }

    /// The model of these types.
    static func syncModel() throws -> SyncModel {
        try SyncModel(
            Author.self,
            Book.self,
            Genre.self,
            Review.self,
            Shelf.self)
    }
}
