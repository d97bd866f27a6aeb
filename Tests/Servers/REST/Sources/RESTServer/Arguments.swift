/// What the command line says: `--port N`, where 0 is any free port.
struct Arguments {
    /// The port to listen on.
    let port: Int

    /// Says how the server is started.
    struct Misused: Error {
        let usage = "usage: RESTServer --port N"
    }

    /// Reads the words after the name of the program.
    init(_ words: [String]) throws(Misused) {
        guard words.count == 2, words[0] == "--port", let port = Int(words[1]), (0...65_535).contains(port) else {
            throw Misused()
        }
        self.port = port
    }
}
