/* A parent that works for 0.3 s beside a child that does so too. */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

__attribute__((noinline)) static void work(void)
{
    for (long end = now_ms() + 300; now_ms() < end;)
        ;
}

__attribute__((noinline)) static void childs_work(void)
{
    work();
}

int main(void)
{
    pid_t child = fork();

    if (child == 0) {
        childs_work();
        return 0;
    }
    work();
    return waitpid(child, NULL, 0) != child;
}
