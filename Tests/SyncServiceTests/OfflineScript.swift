import Sync
import Testing

/// Two devices of one user that edit offline: different fields of one row, and a row that one deletes and the other
/// edits. The script runs with each real server.
enum OfflineScript {
    /// - Parameter nothing: The value that the service gives a number that is nil.
    static func play(_ one: Device, _ two: Device, nothing: String = "nil") async throws {
        let project = try await one.stack.insert("Project", values: ["name": "p"])
        for number in 1...5 {
            try await one.stack.insert(
                "Task", values: ["title": .string("t\(number)")], relationships: ["project": [project]])
        }
        try await one.engine.sync()
        try await two.engine.sync()
        #expect(try await two.rows("SELECT count(*), count(projectID) FROM Task") == ["5 5"])
        try await one.write("UPDATE Task SET title = 'one' WHERE title = 't1'")
        try await two.write("UPDATE Task SET points = 7, projectID = NULL WHERE title = 't1'")
        try await one.write("DELETE FROM Task WHERE title = 't2'")
        try await two.write("UPDATE Task SET title = 'lost' WHERE title = 't2'")
        try await one.engine.sync()
        try await two.engine.sync()
        try await one.engine.sync()
        for device in [one, two] {
            #expect(
                try await device.rows("SELECT title, points, projectID IS NULL FROM Task ORDER BY title")
                    == ["one 7 1", "t3 \(nothing) 0", "t4 \(nothing) 0", "t5 \(nothing) 0"])
            #expect(try await device.leftovers() == [])
            #expect(try await device.engine.sync().isEmpty)
        }
        #expect(try await two.engine.conflicts().contains { $0.local == "lost" })
        try await two.write("DELETE FROM Project")
        try await two.engine.sync()
        try await one.engine.sync()
        #expect(try await one.rows("SELECT title FROM Task") == ["one"])
    }
}
