// The page of two_calls.py in Go: a goroutine for each request, which asks the other server twice, on
// kept connections, as a database's driver does. A goroutine changes threads whenever it waits.
//
//	two_calls ADDRESS PORT BACK
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
)

const page = "<a href='/wait/compute'>c</a><a href='/wait/lock'>l</a><a href='/wait/sleep'>s</a>"

type connection struct {
	net.Conn
	reader *bufio.Reader
}

// Connections that nobody uses now.
var idle = make(chan connection, 64)

func connect() (connection, error) {
	select {
	case it := <-idle:
		return it, nil
	default:
		it, err := net.Dial("tcp", os.Args[3])
		return connection{it, bufio.NewReader(it)}, err
	}
}

func ask(what string) error {
	to, err := connect()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(to, "GET /%s HTTP/1.1\r\nHost: back\r\n\r\n", what); err != nil {
		return err
	}
	reply, err := http.ReadResponse(to.reader, nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, reply.Body); err != nil {
		return err
	}
	idle <- to
	return nil
}

func serve(out http.ResponseWriter, request *http.Request) {
	first := path.Base(request.URL.Path)
	if first == "/" {
		first = "stock"
	}
	for _, what := range []string{first, "total"} {
		if err := ask(what); err != nil {
			http.Error(out, err.Error(), http.StatusBadGateway)
			return
		}
	}
	out.Header().Set("Content-Type", "text/html")
	io.WriteString(out, page)
}

func main() {
	address := net.JoinHostPort(os.Args[1], os.Args[2])
	fmt.Fprintln(os.Stderr, http.ListenAndServe(address, http.HandlerFunc(serve)))
	os.Exit(1)
}
