import Glibc
package import Postgres
internal import Processes

/// Stops a private cluster and removes its files when this value is released or this process is gone, for whatever
/// reason.
///
/// A killed process cannot clean up, so a small shell process waits at the other end of a pipe that only this process
/// has.
package final class ClusterGuard: Sendable {
    private let cluster: PrivateCluster
    private let descriptor: Int32
    private let shell: ChildProcess

    /// - Parameter cluster: need not be running, and may be stopped and started in the meantime.
    package init(_ cluster: PrivateCluster) throws {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0, "no descriptors left")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.descriptor = ends[1]
        self.cluster = cluster
        defer { Glibc.close(ends[0]) }
        let script = """
            cat > /dev/null
            pid=$(head -n 1 "$1/postmaster.pid" 2> /dev/null)
            if [ -n "$pid" ] && [ "$(readlink "/proc/$pid/cwd")" = "$1" ]; then
                kill -QUIT "$pid"
                tries=0
                while kill -0 "$pid" 2> /dev/null && [ $tries -lt 200 ]; do sleep 0.05; tries=$((tries + 1)); done
            fi
            rm -rf -- "$@"
            rmdir -- "${1%/*}" 2> /dev/null
            """
        let folders = [cluster.dataDirectory, cluster.socketDirectory, cluster.logDirectory, cluster.folder]
        do {
            self.shell = try ChildProcess.start(
                "/bin/sh", ["-c", script, "sh"] + folders, environment: ["PATH": "/usr/bin:/bin"],
                input: ends[0], leading: .session)
        } catch {
            Glibc.close(ends[1])
            throw error
        }
    }

    deinit {
        let server = self.cluster.processID
        Glibc.close(self.descriptor)
        // The server may be our child: it must be reaped, or the shell would wait for a dead process to disappear.
        while !ChildProcess.hasEnded(self.shell.processID) {
            if let server { _ = ChildProcess.hasEnded(server) }
            poll(nil, 0, 5)
        }
    }
}
