import Foundation

/// What a service answers on two days.
enum Payloads {
    static let monday = Data(
        #"""
        [{"id": 1, "name": "Garden", "todos": [
            {"id": 11, "title": "Sow beans", "priority": "high", "schedule": {"due": "2026-05-01T08:00:00Z"}},
            {"id": 12, "title": "Mend the fence"}]},
         {"id": 2, "name": "Kitchen", "todos": [{"id": 21, "title": "Paint the door", "is_done": true}]}]
        """#.utf8)

    static let tuesday = Data(
        #"""
        [{"id": 1, "name": "Garden", "todos": [
            {"id": 13, "title": "Water the beans"},
            {"id": 11, "title": "Sow beans", "priority": "high", "is_done": true}]},
         {"id": 3, "name": "Cellar", "todos": []}]
        """#.utf8)
}
