import Foundation
import Sync

@Entity struct Person {
    var id: Int
    var name: String?
}

@Entity struct Issue {
    var id: Int
    var title: String
    var state: String? = "open"
    var updatedAt: Date?
    @Relationship var author: Person?
}
