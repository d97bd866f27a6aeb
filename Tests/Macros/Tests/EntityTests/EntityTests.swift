import Foundation
import GRDB
import Sync
import Testing

@Suite("Types with @Entity")
struct EntityTests {
    private func stack() throws -> DataStack {
        try DataStack.inMemory(
            SyncModel(User.self, Note.self, Company.self, Office.self, Issue.self, Repository.self))
    }

    private let json = Data(
        #"""
        [{"id": 1, "name": "Ann", "contact": {"email": "a@b.c"}, "role": "admin", "joined_at": "2024-02-29T12:00:00.5Z",
          "token": "6F9619FF-8B86-D011-B42D-00CF4FC964FF", "balance": 12.50, "site": "https://example.com",
          "picture": "AQID", "address": {"street": "Main", "floor": 2}, "tags": ["a", "b"], "bio": "  ",
          "avatar_url": "x", "notes": [{"id": 11, "text": "b"}, {"id": 10, "text": "a"}]},
         {"id": 2, "name": "Bob", "manager_id": 1, "friends": [{"id": 1}]}]
        """#.utf8)

    @Test("A type with @Entity reads the rows of a sync, with every kind of value")
    func everyKindOfValueIsRead() async throws {
        let stack = try stack()
        let result = try await Sync.changes(json, as: User.self, stack: stack)
        #expect(result[User.self].inserted == [1, 2])
        #expect(result[Note.self].inserted == [10, 11])
        #expect(result.unmappedKeys.isEmpty)
        let ann = try #require(try await stack.fetch(User.self, id: 1, including: \.notes))
        #expect(ann.email == "a@b.c")
        #expect(ann.role == .admin)
        #expect(ann.age == 18)
        #expect(ann.joinedAt == Date(timeIntervalSince1970: 1_709_208_000.5))
        #expect(ann.token?.uuidString == "6F9619FF-8B86-D011-B42D-00CF4FC964FF")
        #expect(ann.balance == Decimal(string: "12.5"))
        #expect(ann.site?.host() == "example.com")
        #expect(ann.picture == Data([1, 2, 3]))
        #expect(ann.address == Address(street: "Main", floor: 2))
        #expect(ann.tags == ["a", "b"])
        #expect(ann.bio == nil)
        #expect(ann.notes.map(\.id) == [11, 10])
        let bob = try #require(try await stack.fetch(User.self, where: "name == 'Bob'", including: \.manager).first)
        #expect(bob.managerID == 1)
        #expect(bob.manager?.name == "Ann")
        #expect(bob.friends.isEmpty)
        #expect(try await stack.count(User.self, where: "role == 'guest'") == 1)
    }

    @Test("A key path leads along relationships")
    func relationshipPaths() async throws {
        let stack = try stack()
        try await Sync.changes(json, as: User.self, stack: stack)
        let bob = try #require(try await stack.fetch(User.self, id: 2, including: \.manager?.notes, \.friends))
        #expect(bob.manager?.notes.map(\.id) == [11, 10])
        #expect(bob.manager?.friends.isEmpty == true)
        let ann = try #require(try await stack.fetch(User.self, id: 1, including: \.notes.each?.user?.manager))
        #expect(ann.notes.map(\.user?.id) == [1, 1])
        let notes = try await stack.fetch(Note.self, including: \.user?.notes.each?.user)
        #expect(notes.map { $0.user?.notes.map(\.user?.name) } == [["Ann", "Ann"], ["Ann", "Ann"]])
        #expect(try await stack.fetch(Note.self, orderedBy: \.user?.manager?.name).map(\.id) == [10, 11])
        let users = try await stack.fetch(User.self, orderedBy: \.manager?.name, ascending: false)
        #expect(users.map(\.id) == [2, 1])
        #expect(try await stack.fetch(User.self, where: "address.street == 'Main'").map(\.id) == [1])
        let error = #expect(throws: SyncError.self) { try RowPredicate(#Predicate<User> { $0.address?.floor == nil }) }
        #expect(error?.message.contains("a text condition can use it") == true, "\(String(describing: error))")
    }

    @Test("A save writes only the related rows that changed since they were fetched")
    func unchangedRelatedRows() async throws {
        let stack = try stack()
        try await Sync.changes(json, as: User.self, stack: stack)
        func user(_ id: Int) async throws -> User {
            try #require(try await stack.fetch(User.self, id: id, including: \.manager?.notes, \.friends, \.notes))
        }
        var bob = try await user(2)
        // Another writer changes rows that were fetched with Bob.
        try await Sync.update(id: 1, with: ["name": "Anna"], inEntity: "User", stack: stack)
        bob.name = "Bobby"
        #expect(try await stack.save(bob)[User.self].updated == [2])
        #expect(try await user(1).name == "Anna")
        #expect(try await user(2).name == "Bobby")
        #expect(try await user(2).friends.map(\.id) == [1])
        // Changed rows are written, also those of a changed row.
        bob = try await user(2)
        bob.manager?.notes[0].text = "changed"
        try await stack.save(bob)
        #expect(try await user(1).notes.map(\.text) == ["changed", "a"])
        bob = try await user(2)
        bob.friends[0].name = "Annie"
        bob.friends.append(User(id: 4, name: "Dan"))
        try await stack.save(bob)
        #expect(try await user(1).name == "Annie")
        #expect(Set(try await user(2).friends.map(\.id)) == [1, 4])
        // An ordered list keeps its order.
        var ann = try await user(1)
        ann.notes.swapAt(0, 1)
        try await stack.save(ann)
        #expect(try await user(1).notes.map(\.id) == [10, 11])
        // A copy with another key gets all links.
        bob = try await user(2)
        bob.id = 3
        try await stack.save(bob)
        #expect(try await user(3).managerID == 1)
        #expect(Set(try await user(3).friends.map(\.id)) == [1, 4])
    }

    @Test("The state of a fetched value has no member in its JSON, and takes no part in comparisons")
    func fetchedState() async throws {
        let stack = try DataStack.inMemory(SyncModel(Label.self))
        try await stack.save(Label(id: 1, text: "a"))
        var label = try #require(try await stack.fetch(Label.self, id: 1))
        #expect(label == Label(id: 1, text: "a"))
        let json = try #require(try JSONSerialization.jsonObject(with: JSONEncoder().encode(label)) as? [String: Any])
        #expect(json.keys.sorted() == ["id", "text"])
        #expect(try JSONDecoder().decode(Label.self, from: Data(#"{"id":1,"text":"a"}"#.utf8)) == label)
        try await Sync.update(id: 1, with: ["text": "b"], inEntity: "Label", stack: stack)
        #expect(try await stack.save(label).isEmpty)
        label.text = "c"
        #expect(try await stack.save(label)[Label.self].updated == [1])
        label.text = "a"
        #expect(try await stack.save(label)[Label.self].updated == [1])
        label.syncFetchedRow = FetchedRow()
        try await Sync.update(id: 1, with: ["text": "b"], inEntity: "Label", stack: stack)
        #expect(try await stack.save(label)[Label.self].updated == [1])
    }

    @Test("A save of a copy does not affect other copies, and a new value is one row")
    func copies() async throws {
        let stack = try DataStack.inMemory(SyncModel(Recipe.self, Step.self, Observed.self))
        var form = Recipe(title: "tea", steps: [Step(text: "heat")])
        try await stack.save(form)
        form.note = "hot"
        form.steps[0].text = "heat water"
        form.steps.append(Step(text: "steep"))
        try await stack.save(form)
        #expect(try await stack.save(form).isEmpty)
        #expect(try await stack.count(Recipe.self) == 1)
        var list = try await stack.fetch(Recipe.self, including: \.steps)
        #expect(list.map { $0.steps.map(\.text).sorted() } == [["heat water", "steep"]])
        var one = list[0]
        one.note = "cold"
        one.steps[0].recipe = nil
        try await stack.save(one)
        #expect(try await stack.save(list).isEmpty)
        #expect(try await stack.fetch(Recipe.self).map(\.note) == ["cold"])
        list[0].title = "mint tea"
        try await stack.save(list)
        #expect(try await stack.fetch(Recipe.self, including: \.steps).map(\.note) == ["cold"])
        for text in ["a", "b"] {
            var value = Observed(text: "")
            value.text = text
            try await stack.save(value)
        }
        #expect(try await stack.fetch(Observed.self).map(\.text).sorted() == ["a", "b"])
    }

    @Test("A sync of a value changes lists as the app did since they were fetched")
    func syncedLists() async throws {
        let stack = try stack()
        try await Sync.changes(json, as: User.self, stack: stack)
        func ann() async throws -> User {
            try #require(try await stack.fetch(User.self, id: 1, including: \.notes))
        }
        var user = try await ann()
        try await Sync.insertOrUpdate(["id": 12, "text": "c", "user_id": 1], inEntity: "Note", stack: stack)
        user.name = "Anna"
        try await Sync.changes([user], stack: stack)
        #expect(try await ann().notes.map(\.id) == [11, 10, 12])
        #expect(try await ann().name == "Anna")
        user.notes.removeLast()
        user.notes.append(Note(id: 13, text: "d"))
        try await Sync.changes([user], stack: stack)
        // Another writer added note 12 to the list.
        #expect(try await ann().notes.map(\.id) == [11, 13, 12])
        // A list that was empty when it was fetched is unchanged, too.
        var bob = try #require(try await stack.fetch(User.self, id: 2, including: \.notes))
        try await Sync.insertOrUpdate(["id": 20, "user_id": 2], inEntity: "Note", stack: stack)
        bob.name = "Bobby"
        try await Sync.changes([bob], stack: stack)
        #expect(try await stack.fetch(User.self, id: 2, including: \.notes)?.notes.map(\.id) == [20])
    }

    @Test("The key of a to-one relationship may be changed while its row is loaded")
    func changedKeyOfLoadedRow() async throws {
        let stack = try stack()
        try await Sync.changes(json, as: User.self, stack: stack)
        try await stack.save(User(id: 3, name: "Cid"))
        func bob() async throws -> User {
            try #require(try await stack.fetch(User.self, id: 2, including: \.manager))
        }
        var user = try await bob()
        user.managerID = 3
        #expect(user.manager == nil)
        try await stack.save(user)
        #expect(try await bob().manager?.name == "Cid")
        user = try await bob()
        user.managerID = nil
        try await stack.save(user)
        #expect(try await bob().managerID == nil)
        user.managerID = 3
        #expect(user.manager?.name == "Cid")
        user.manager = User(id: 5, name: "Eve")
        #expect(user.managerID == 5)
        try await stack.save(user)
        #expect(try await bob().manager?.name == "Eve")
    }

    @Test("A condition may use the key of a to-one relationship")
    func keysInConditions() async throws {
        let stack = try stack()
        try await Sync.changes(json, as: User.self, stack: stack)
        let free = try RowPredicate(#Predicate<User> { $0.managerID == nil })
        #expect(try await stack.fetch(User.self, where: free).map(\.id) == [1])
        let managed = try RowPredicate(#Predicate<User> { $0.managerID == 1 })
        #expect(try await stack.fetch(User.self, where: managed).map(\.id) == [2])
    }

    @Test("A type with @Entity is a GRDB record, and a sync finds the rows that it writes unchanged")
    func typesAreRecordsOfGRDB() async throws {
        let stack = try stack()
        try await Sync.changes(json, as: User.self, stack: stack)
        let users = try await stack.writer.read { db in try User.fetchAll(db) }
        #expect(users.map(\.id) == [1, 2])
        try await stack.writer.write { db throws in
            try db.execute(sql: "DELETE FROM User; DELETE FROM Note")
            for user in users { try user.insert(db) }
            let count = try User.filter { $0.name == "Ann" }.fetchCount(db)
            #expect(count == 1)
            #expect(try User.filter(key: 2).fetchOne(db)?.managerID == 1)
            var ann = try #require(try User.fetchOne(db, key: 1))
            ann.age = 30
            try ann.update(db)
        }
        let again = try await Sync.changes(
            Data(
                #"[{"id": 1, "age": 30, "token": "6f9619ff-8b86-d011-b42d-00cf4fc964ff", "joined_at": 1709208000.5}]"#
                    .utf8),
            as: User.self, stack: stack, operations: [.insert, .update])
        #expect(again["User"].isEmpty)
        let refused = try await stack.writer.write { db in
            do {
                try Note(id: 1, text: "a\0b").insert(db)
                return ""
            } catch { return "\(error)" }
        }
        #expect(refused.contains("NUL"))
    }

    @Test("Values are created with their related rows, saved with them, and deleted")
    func savesCreatedValues() async throws {
        let stack = try DataStack.inMemory(SyncModel(Company.self, Office.self))
        let code = UUID()
        try await stack.save(Company(id: 1, name: "Acme", offices: [Office(code: code, city: "Bern")]))
        let office = try #require(try await stack.fetch(Office.self).first)
        #expect(office.code == code && office.companyID == 1)
        try await stack.insert(Office(code: UUID(), company: Company(id: 2, name: "Initech")))
        try await stack.insert(Office(code: UUID(), companyID: 2))
        #expect(try await stack.fetch(Company.self, id: 2, including: \.offices)?.offices.count == 2)
        try await stack.delete(Company(id: 2, name: ""))
        #expect(try await stack.fetch(Office.self).map(\.code) == [code])
    }

    @Test("A subentity reads its rows through a view, which cannot be written")
    func subEntitiesHaveAView() async throws {
        let stack = try DataStack.inMemory(SyncModel(Animal.self, Dog.self, Puppy.self))
        try await Sync.changes(Data(#"[{"id": 1, "name": "Tom"}]"#.utf8), as: Animal.self, stack: stack)
        try await Sync.changes(Data(#"[{"id": 2, "name": "Rex"}]"#.utf8), as: Dog.self, stack: stack)
        try await Sync.changes(Data(#"[{"id": 3, "name": "Bo"}]"#.utf8), as: Puppy.self, stack: stack)
        let (animals, dogs, puppies) = try await stack.writer.read { db throws in
            (try Animal.fetchAll(db), try Dog.order { $0.id.desc }.fetchAll(db), try Puppy.fetchAll(db))
        }
        #expect(animals.map(\.id) == [1, 2, 3])
        #expect(dogs.map(\.id) == [3, 2])
        #expect(puppies.map(\.id) == [3])
        try await stack.writer.read { db throws in
            #expect(try Dog.fetchCount(db) == 2)
            #expect(try Dog.filter { $0.name == "Tom" }.fetchOne(db) == nil)
            let error = #expect(throws: DatabaseError.self) { try Dog.fetchOne(db, key: 2) }
            #expect(error?.message == "database view Dog has no primary key")
        }
        #expect(try await stack.fetch(Dog.self, orderedBy: "-id").map(\.id) == [3, 2])
        let error = await #expect(throws: DatabaseError.self) {
            try await stack.writer.write { db in try dogs[0].update(db) }
        }
        #expect(error?.message?.contains("view Dog") ?? false)
        var bo = puppies[0]
        bo.tricks = 3
        try await Sync.changes([bo], stack: stack, operations: [.update])
        #expect(try await stack.fetch(Dog.self, orderedBy: "-id").map(\.tricks) == [3, nil])
    }

    @Test("A subentity has no view beside existing tables, so GRDB reports a missing table")
    func subentityOfExistingTables() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE Animal (
                        id INTEGER PRIMARY KEY, name TEXT, tricks INTEGER, sync_entity TEXT NOT NULL)
                    """)
        }
        let stack = try DataStack(model: SyncModel(Animal.self, Dog.self), existingTablesIn: queue)
        try await Sync.changes(Data(#"[{"id": 1, "name": "Tom"}]"#.utf8), as: Animal.self, stack: stack)
        try await Sync.changes(Data(#"[{"id": 2, "name": "Rex"}]"#.utf8), as: Dog.self, stack: stack)
        #expect(try await stack.fetch(Dog.self).map(\.id) == [2])
        let error = await #expect(throws: DatabaseError.self) {
            try await queue.read { db in try Dog.fetchAll(db) }
        }
        #expect(error?.message == "no such table: Dog")
    }

    @Test("A format is the text that a schema file has, and the model reports an invalid one")
    func formatLiterals() async throws {
        let stack = try DataStack.inMemory(SyncModel(Visit.self))
        let json = Data(#"[{"id": 1, "day": "29.02.2024", "at": 1709208000500}]"#.utf8)
        try await Sync.changes(json, as: Visit.self, stack: stack)
        let visit = try #require(try await stack.fetch(Visit.self, id: 1))
        #expect(visit.day == Date(timeIntervalSince1970: 1_709_164_800))
        #expect(visit.at == Date(timeIntervalSince1970: 1_709_208_000.5))
        let error = #expect(throws: SyncError.self) { try SyncModel(Misdated.self) }
        #expect(error?.problems.map(\.path) == ["entities.Misdated.attributes.day.format"])
        #expect(error?.problems.first?.message.hasPrefix("'DD.MM' is neither a date pattern (") == true)
    }

    @Test("A property with '@Stored' may have copies of another entity, which are JSON")
    func copiesOfAnotherEntity() async throws {
        let stack = try DataStack.inMemory(SyncModel(Snapshot.self, Label.self))
        let snapshot = Snapshot(id: 1, label: nil, labels: [Label(id: 2, text: "a")])
        try await stack.save(snapshot)
        try await stack.writer.write { db in
            try Snapshot(id: 2, label: Label(id: 3), labels: []).insert(db)
        }
        let rows = try await stack.fetch(Snapshot.self)
        #expect(rows.map(\.label) == [nil, Label(id: 3)])
        #expect(rows.map(\.labels) == [[Label(id: 2, text: "a")], []])
        #expect(try await stack.count(Label.self) == 0)
    }

    @Test("Values are sorted by Foundation's sort descriptors")
    func sortDescriptors() async throws {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { return }
        let stack = try stack()
        let json = #"[{"id":1,"name":"b","age":3},{"id":2,"name":"a","age":null},{"id":3,"name":"a","age":5}]"#
        try await Sync.changes(Data(json.utf8), as: User.self, stack: stack)
        let descriptors = [
            SortDescriptor(\User.name, comparator: .lexical), SortDescriptor(\User.age, order: .reverse),
        ]
        let users = try await stack.fetch(User.self, orderedBy: RowOrder(descriptors))
        #expect(users.map(\.id) == [3, 2, 1])
        #expect(users.map(\.id) == users.shuffled().sorted(using: descriptors).map(\.id))
        #expect(try RowOrder([SortDescriptor(\User.email, order: .reverse)]) == "-email")
        let error = #expect(throws: SyncError.self) { try RowOrder([SortDescriptor(\User.shortName)]) }
        #expect(error?.code == .unknownAttribute)
    }

    @Test("Changes of rows are observed as values")
    func changesAreObserved() async throws {
        let stack = try stack()
        try await Sync.changes(json, as: User.self, stack: stack)
        var all = try stack.observeChanges(User.self, orderedBy: "name", including: \.notes).makeAsyncIterator()
        let first = try #require(try await all.next())
        #expect(first.inserted == [0, 1])
        #expect(first.rows.map(\.name) == ["Ann", "Bob"])
        try await Sync.changes(
            Data(#"[{"id": 13, "user_id": 2}]"#.utf8), as: Note.self, stack: stack, operations: [.insert])
        let second = try #require(try await all.next())
        #expect(second.updated.map { [$0.old, $0.new] } == [[1, 1]])
        #expect(second.rows[1].notes.map(\.id) == [13])
        try await Sync.changes(Data(#"[{"id": 2, "name": "Aaron"}]"#.utf8), as: User.self, stack: stack)
        let third = try #require(try await all.next())
        #expect(third.removed == [0])
        #expect(third.updated.map { [$0.old, $0.new] } == [[1, 0]])
        #expect(third.moved.isEmpty)
    }

    @Test("A sync of values leaves relationships unchanged that were not loaded")
    func valuesAreAPayload() async throws {
        let stack = try stack()
        try await Sync.changes(json, as: User.self, stack: stack)
        var users = try await stack.fetch(User.self)
        let same = try await Sync.changes(users, stack: stack)
        #expect(same.entities.values.filter { !$0.isEmpty }.isEmpty)
        users[1].managerID = nil
        users[0].secret = "s"
        users[0].notes = [Note(id: 10, text: "a")]
        let result = try await Sync.changes(users, stack: stack)
        #expect(result[User.self].updated == [1, 2])
        // Rows that are set for a list that was not loaded are added to it.
        #expect(result[Note.self].deleted.isEmpty)
        var ann = try #require(try await stack.fetch(User.self, id: 1, including: \.notes))
        ann.notes = [Note(id: 10, text: "a")]
        #expect(try await Sync.changes([ann], stack: stack)[Note.self].deleted == [11])
        #expect(try await stack.fetch(User.self, id: 2)?.managerID == nil)
        #expect(try await stack.fetch(User.self, id: 1)?.secret == "s")
    }

    @Test("A value that JSON cannot have is an error, and a property may be called row")
    func valuesWithoutJSON() async throws {
        let stack = try DataStack.inMemory(SyncModel(Seat.self))
        for (price, date) in [(Double.nan, Date?.none), (.infinity, nil), (1, .distantPast)] {
            let seat = Seat(id: 1, row: "A", price: price, soldAt: date)
            let error = await #expect(throws: SyncError.self) { try await Sync.changes([seat], stack: stack) }
            #expect(error?.code == .typeMismatch)
        }
        let unsaid = Seat(id: 1, row: "A", price: 1, stay: Stay(from: .distantPast))
        let error = await #expect(throws: SyncError.self) { try await Sync.changes([unsaid], stack: stack) }
        #expect(error?.code == .typeMismatch)
        #expect(try await stack.count(Seat.self) == 0)
        try await Sync.changes([Seat(id: 1, row: "A", price: 1)], stack: stack)
        try await stack.writer.write { db in try Seat(id: 2, row: "B", price: 2).insert(db) }
        #expect(try await stack.fetch(Seat.self).map(\.row) == ["A", "B"])
    }

    @Test("Children are synced by a key path, and keys have their own type")
    func childrenOfAKeyPath() async throws {
        let stack = try stack()
        try await Sync.changes(json, as: User.self, stack: stack)
        let ann = try #require(try await stack.fetch(User.self, id: 1))
        let result = try await Sync.changes(
            Data(#"[{"id": 12}]"#.utf8), as: Note.self, stack: stack, parent: SyncParent(ann, \.notes))
        #expect(result[Note.self].inserted == [12])
        #expect(result[Note.self].deleted == [10, 11])
        let code = UUID()
        try await Sync.changes(
            Data(#"[{"id": 7, "name": "Acme", "offices": [{"code": "\#(code)"}]}]"#.utf8), as: Company.self,
            stack: stack)
        let office = try #require(try await stack.fetch(Office.self, id: code, including: \.company))
        #expect(office.companyID == 7)
        #expect(office.company?.name == "Acme")
    }

    @Test("A type with @Entity may have a composite key")
    func compositeKeys() async throws {
        let stack = try stack()
        try await Sync.changes(
            Data(#"[{"owner": "a", "name": "x", "issues": [{"number": 1, "title": "t"}]}]"#.utf8), as: Repository.self,
            stack: stack)
        let repository = try #require(try await stack.fetch(Repository.self, including: \.issues).first)
        #expect(repository.issues.map(\.number) == [1])
        #expect(repository.syncID == ["a", "x"])
        let result = try await Sync.changes(
            Data(#"[{"number": 2}]"#.utf8), as: Issue.self, stack: stack, parent: SyncParent(repository, \.issues))
        #expect(result["Issue"].insertedCount == 1)
        #expect(result["Issue"].deletedCount == 1)
    }

    @Test("Values with related rows are observed")
    func relatedRowsAreObserved() async throws {
        let stack = try stack()
        try await Sync.changes(json, as: User.self, stack: stack)
        var lists = try stack.observe(User.self, orderedBy: "name", including: \.notes).makeAsyncIterator()
        #expect(try await lists.next()?.map(\.notes.count) == [2, 0])
        try await Sync.changes(
            Data(#"[{"id": 13, "user_id": 2}]"#.utf8), as: Note.self, stack: stack, operations: [.insert])
        #expect(try await lists.next()?.map(\.notes.count) == [2, 1])
        let observation = ValueObservation.tracking { db in try Note.fetchCount(db) }
        for try await count in observation.values(in: stack.writer) {
            #expect(count == 3)
            break
        }
    }

    @Test("Codable types that are no entities are synced and fetched")
    func codableTypes() async throws {
        struct Line: Codable, Sendable, Equatable {
            var id: Int
            var name: String
            var joinedAt: Date?
        }
        let stack = try stack()
        let lines = [Line(id: 5, name: "Eva", joinedAt: Date(timeIntervalSince1970: 1.5))]
        try await Sync.changes(.encoding(lines), inEntity: "User", stack: stack)
        #expect(try await stack.fetch("User", as: Line.self) == lines)
    }

    @Test("A type may be in a namespace, have another entity name, and give inverses by name")
    func namespacedTypes() async throws {
        let stack = try DataStack.inMemory(SyncModel(Village.Inhabitant.self, Village.House.self))
        let json = #"[{"id": 1, "size": 2, "people": [{"class": "a", "e-mail": "x"}, {"class": "b", "spouse": "a"}]}]"#
        try await Sync.changes(Data(json.utf8), as: Village.House.self, stack: stack)
        let house = try #require(try await stack.fetch(Village.House.self, id: 1, including: \.people))
        #expect(house.size == .large)
        #expect(house.people.map(\.class) == ["a", "b"])
        #expect(house.people.map(\.spouseID) == ["b", "a"])
        #expect(house.people.first?.`e-mail` == "x")
        #expect(stack.model.entity(named: "Person")?.relationships.map(\.inverse) == ["people", "spouse"].reversed())
    }
}
